"""Bus monitor: checks one row a cycle against all sets of bytes.

Ref: Young (UBC 2020) Section 3.3; ``golden_model/noncoherent/monitor.py`` (the same steps).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.interval_cam import DIGEST_TURN
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.trace.noncoherent.operations import OperationKind
from racetrap.rtl.common.bits import lowest_set
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.noncoherent.interval_cam import Command, IntervalCam
from racetrap.rtl.noncoherent.layouts import range_layout, report_signature, trace_signature

__all__ = ["Monitor"]

_K = OperationKind
_CLEANS = (_K.CACHE_CLEAN, _K.CLEAN_ALL)
_FLUSHES = (_K.CACHE_FLUSH, _K.FLUSH_ALL)
_INVALIDATES = (_K.CACHE_INVALIDATE, _K.INVALIDATE_ALL)
#: State that does what a row still needs, in the order of the states.
_STATES = {"dma": "DMA", "sides": "LEFT", "copy": "COPY"}


class Monitor(wiring.Component):
    """Takes rows, reports what they race with, and keeps the sets of bytes.

    A row takes one cycle, but for those that need another look in mode ``strict``: one more
    if a cached access meets its line under DMA, three more if a cached write meets stale
    bytes, three for each entry from which bytes become stale; and as many as ``IntervalCam``
    says after a set has run out of entries.  What a row has met is known a cycle after its last.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(row_layout))``
        Rows.
    i_enable : ``In(1)``
        Rows are checked; else they are taken and ignored.
    i_clear : ``In(1)``
        Pulse: the next row finds all sets empty.
    o_report : ``Out({valid, payload: report_layout})``
        Rows that race, without back-pressure; ``sequence`` is 0.
    o_step : ``Out(1)``
        Pulse: a row has been checked.
    o_compacted : ``Out(1)``
        Pulse: a set has merged two entries for want of room.
    o_idle : ``Out(1)``
        Nothing is held here.
    trace : ``Out({valid, payload: step_layout})``
        Each row checked; only with ``trace_port``.
    """

    def __init__(self, params: NoncoherentParams):
        self._params = params
        members = {
            "i": In(stream.Signature(struct_layout(params.row_layout))),
            "i_enable": In(1),
            "i_clear": In(1),
            "o_report": Out(report_signature(params)),
            "o_step": Out(1),
            "o_compacted": Out(1),
            "o_idle": Out(1),
        }
        if params.trace_port:
            members["trace"] = Out(trace_signature(params))
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        params = self._params
        sets = self._sets = {name: IntervalCam(params) for name in params.set_names}
        engines = range(params.engines)
        self._writing = [sets[f"writing_{engine}"] for engine in engines]
        self._reading = [sets[f"reading_{engine}"] for engine in engines]
        self._row = Signal(struct_layout(params.row_layout))
        shape = range_layout(params)
        self._bytes, self._granules, self._lines = (
            Signal(shape, name=name) for name in ("bytes", "granules", "lines")
        )
        for name, cam in sets.items():
            m.submodules[name] = cam
            m.d.comb += [
                cam.i_range.eq(self._bytes), cam.i_origin.tag.eq(0 if name == "valid" else
                                                                 self._row.tag),
            ]  # fmt: skip
        ready = Signal()
        m.d.comb += [
            ready.eq(Cat(cam.o_ready for cam in sets.values()).all()),
            self.o_compacted.eq(Cat(cam.o_compacted for cam in sets.values()).any()),
        ]
        is_done, is_free = self._check(m, ready)
        is_quiet = self._finish(m, ready, is_done)
        m.d.comb += self.o_idle.eq(is_free & is_quiet)
        return m

    def _use(
        self, m: Module, cams: Iterable[IntervalCam], bytes_: Value,
        command: Command = Command.NONE, *, query: bool = False,
    ) -> None:  # fmt: skip
        """What sets do with a range, if the cycle counts."""
        for cam in cams:
            m.d.comb += [cam.i_range.eq(bytes_), cam.i_command.eq(command), cam.i_query.eq(query)]

    # Rows -------------------------------------------------------------------------------

    def _accept(self, m: Module, is_done: Value) -> Value:
        """Register a row with its granules and lines; gives whether there is one."""
        params, row = self._params, self.i.payload
        held = Signal()
        m.d.comb += [
            self.i.ready.eq(~held | is_done),
            self._bytes.first.eq(self._row.first), self._bytes.end.eq(self._row.end),
        ]  # fmt: skip
        with m.If(self.i.ready):
            m.d.sync += [held.eq(self.i.valid & self.i_enable), self._row.eq(row)]
            for wide, unit in (
                (self._granules, params.granule_bytes), (self._lines, params.line_bytes)
            ):  # fmt: skip
                bits = unit.bit_length() - 1
                m.d.sync += [
                    wide.first.eq(Cat(Const(0, bits), row.first[bits:])),
                    wide.end.eq(Cat(Const(0, bits), (row.end + (unit - 1))[bits:])),
                ]
        return held

    def _check(self, m: Module, ready: Value) -> tuple[Value, Value]:
        """Cycles of a row; gives whether it is the row's last, and whether there is no row."""
        is_done, is_first, apply, clearing = (
            Signal(name=name) for name in ("is_done", "is_first", "apply", "clearing")
        )
        held = self._accept(m, is_done)
        more = {name: Signal(name=f"needs_{name}") for name in ("dma", "sides", "copy")}
        with m.If(self.i_clear):
            m.d.sync += clearing.eq(1)
        for cam in self._sets.values():
            m.d.comb += cam.i_apply.eq(apply)
        needs_sides = Signal()
        with m.If(is_first):
            m.d.sync += needs_sides.eq(more["sides"])
        sources, pending = self._sources(m, is_first, more) if self._params.is_strict else ([], [])
        left = {"sides": needs_sides, "copy": Cat(pending).any()}
        with m.FSM():
            with m.State("FIRST"):
                m.d.comb += [is_first.eq(held & ready & ~clearing), apply.eq(is_first)]
                if self._params.is_strict:
                    self._strict(m, more)
                else:
                    self._thesis(m)
                with m.Switch(self._row.kind):
                    with m.Case(_K.SYNC, _K.SYNC_ALL):
                        self._sync(m)
                with m.If(clearing & ready):
                    m.d.comb += apply.eq(1)
                    for cam in self._sets.values():
                        m.d.comb += [cam.i_clear.eq(1), cam.i_query.eq(0)]
                    m.d.sync += clearing.eq(0)
                with m.If(is_first):
                    self._next(m, is_done, more)
            if self._params.is_strict:
                self._look_again(m, is_done, apply, left)
                self._copy(m, sources, pending, is_done, apply)
        return is_done, ~held & ~clearing

    def _next(self, m: Module, is_done: Value, more: Mapping[str, Value]) -> None:
        """Go on with the first thing that is left to do, if any is."""
        m.d.comb += is_done.eq(~Cat(more.values()).any())
        m.next = "FIRST"
        if self._params.is_strict:
            for name, state in reversed(_STATES.items()):
                if name in more:
                    with m.If(more[name]):
                        m.next = state

    def _sync(self, m: Module) -> None:
        for engine, cams in enumerate(zip(self._writing, self._reading, strict=True)):
            is_meant = (self._row.kind == _K.SYNC_ALL) | (self._row.engine == engine)
            for cam in cams:
                with m.If(is_meant):
                    m.d.comb += cam.i_clear.eq(1)

    def _look_at_others(self, m: Module, sets: Sequence[list[IntervalCam]]) -> None:
        """Look bytes up among those of other engines."""
        for cams in sets:
            for engine, cam in enumerate(cams):
                m.d.comb += cam.i_query.eq(self._row.engine != engine)

    def _issue(self, m: Module, cams: list[IntervalCam]) -> None:
        """Put bytes into the set of the row's engine."""
        for engine, cam in enumerate(cams):
            with m.If(self._row.engine == engine):
                m.d.comb += cam.i_command.eq(Command.INSERT)

    def _thesis(self, m: Module) -> None:
        dirty = [self._sets["dirty_granules"]]
        writing, reading = self._writing, self._reading
        with m.Switch(self._row.kind):
            with m.Case(_K.CACHED_READ):
                self._use(m, writing, self._lines, query=True)
            with m.Case(_K.CACHED_WRITE):
                self._use(m, [*writing, *reading], self._granules, query=True)
                self._use(m, dirty, self._granules, Command.INSERT)
            with m.Case(_K.UNCACHED_READ):
                self._use(m, [*writing, *dirty], self._bytes, query=True)
            with m.Case(_K.UNCACHED_WRITE):
                self._use(m, [*writing, *reading, *dirty], self._bytes, query=True)
            with m.Case(_K.DMA_READ):
                self._use(m, dirty, self._bytes, query=True)
                self._look_at_others(m, [writing])
                self._issue(m, reading)
            with m.Case(_K.DMA_WRITE):
                self._use(m, dirty, self._bytes, query=True)
                self._look_at_others(m, [writing, reading])
                self._issue(m, writing)
            with m.Case(*_CLEANS, *_FLUSHES, *_INVALIDATES):
                self._use(m, dirty, self._lines, Command.REMOVE)

    def _strict(self, m: Module, more: dict[str, Signal]) -> None:
        """First cycle of a row, and what else it needs."""
        dirty_granules, dirty_bytes, stale = (
            [self._sets[name]] for name in ("dirty_granules", "dirty_bytes", "stale")
        )
        writing, reading = self._writing, self._reading
        snoops = self._params.uncached_snoops_cache
        with m.Switch(self._row.kind):
            with m.Case(_K.CACHED_READ):
                self._use(m, stale, self._bytes, query=True)
                self._fill(m, more, is_access=True)
            with m.Case(_K.CACHED_WRITE):
                self._use(m, reading, self._bytes, query=True)
                self._use(m, stale, self._granules)
                self._use(m, dirty_granules, self._granules, Command.INSERT)
                self._use(m, dirty_bytes, self._bytes, Command.INSERT)
                self._fill(m, more, is_access=True)
                m.d.comb += more["sides"].eq(stale[0].o_overlap.any())
            with m.Case(_K.UNCACHED_READ):
                self._use(m, writing, self._bytes, query=True)
                self._use(m, dirty_bytes, self._bytes, query=not snoops)
            with m.Case(_K.UNCACHED_WRITE):
                self._use(m, [*writing, *reading], self._bytes, query=True)
                if snoops:
                    self._use(m, [*stale, *dirty_bytes], self._bytes, Command.REMOVE)
                else:
                    self._use(m, dirty_granules, self._bytes, query=True)
                    self._make_stale(m, more)
            with m.Case(_K.DMA_READ):
                self._use(m, dirty_bytes, self._bytes, query=True)
                self._look_at_others(m, [writing])
                self._issue(m, reading)
            with m.Case(_K.DMA_WRITE):
                self._use(m, dirty_granules, self._bytes, query=True)
                self._look_at_others(m, [writing, reading])
                self._issue(m, writing)
                self._make_stale(m, more)
            with m.Case(*_CLEANS):
                self._use(m, [*dirty_granules, *dirty_bytes], self._lines, Command.REMOVE)
            with m.Case(*_FLUSHES, *_INVALIDATES):
                self._use(m, [*dirty_granules, *stale], self._lines, Command.REMOVE)
                self._use(m, dirty_bytes, self._lines, Command.REMOVE)
                m.d.comb += dirty_bytes[0].i_query.eq(self._row.kind.matches(*_INVALIDATES))
                if self._params.prefetch:
                    # The line may be filled again at once.
                    self._fill(m, more, is_access=False)
                else:
                    self._use(m, [self._sets["valid"]], self._lines, Command.REMOVE)

    def _fill(self, m: Module, more: dict[str, Signal], *, is_access: bool) -> None:
        """The cache may take lines, with bytes from before an engine writes them."""
        self._use(m, self._writing, self._lines)
        if not self._params.prefetch:
            self._use(m, [self._sets["valid"]], self._lines, Command.INSERT)
        meets = Cat(cam.o_overlap for cam in self._writing).any()
        m.d.comb += [more["copy"].eq(meets), more["dma"].eq(meets & is_access)]

    def _make_stale(self, m: Module, more: dict[str, Signal]) -> None:
        """Memory gets new bytes behind the cache."""
        if self._params.prefetch:
            self._use(m, [self._sets["stale"]], self._bytes, Command.INSERT)
        else:
            # Looked up only.
            m.d.comb += more["copy"].eq(self._sets["valid"].o_overlap.any())

    # Further cycles of mode strict ------------------------------------------------------

    def _look_again(
        self, m: Module, is_done: Value, apply: Value, left: Mapping[str, Value]
    ) -> None:
        """Exact bytes where a line or granule has met something."""
        row, bytes_, granules = self._row, self._bytes, self._granules
        stale = [self._sets["stale"]]
        with m.State("DMA"):
            m.d.comb += apply.eq(1)
            exact = Mux(row.kind == _K.CACHED_WRITE, granules, bytes_)
            self._use(m, self._writing, exact, query=True)
            self._next(m, is_done, left)
        for state, next_state, begin, end in (
            ("LEFT", "RIGHT", granules.first, bytes_.first),
            ("RIGHT", "REMOVE", bytes_.end, granules.end),
        ):
            with m.State(state):
                m.d.comb += apply.eq(begin != end)
                self._use(m, stale, _range(begin[: len(bytes_.first)], end), query=True)
                m.next = next_state
        with m.State("REMOVE"):
            m.d.comb += apply.eq(1)
            self._use(m, stale, bytes_, Command.REMOVE)
            self._next(m, is_done, {"copy": left["copy"]})

    def _sources(
        self, m: Module, is_first: Value, more: Mapping[str, Value]
    ) -> tuple[list[IntervalCam], list[Signal]]:
        """Sets whose entries become stale in part, and which of their entries still have to."""
        is_write = self._row.kind.matches(_K.UNCACHED_WRITE, _K.DMA_WRITE)
        sources = [(cam, ~is_write) for cam in self._writing]
        if not self._params.prefetch:
            sources.append((self._sets["valid"], is_write))
        pending = []
        for number, (cam, is_meant) in enumerate(sources):
            slots = Signal(self._params.entries, name=f"pending_{number}")
            with m.If(is_first):
                meant = (is_meant & more["copy"]).replicate(len(slots))
                m.d.sync += slots.eq(cam.o_overlap & meant)
            padding = (1 << len(cam.i_slot)) - len(slots)
            m.d.comb += cam.i_slot.eq(lowest_set(Cat(slots, Const(0, padding))))
            pending.append(slots)
        return [cam for cam, _ in sources], pending

    def _copy(
        self, m: Module, sources: list[IntervalCam], pending: list[Signal], is_done: Value,
        apply: Value,
    ) -> None:  # fmt: skip
        """One pending entry becomes stale, as far as it lies in the row's bytes or lines."""
        stale, row = self._sets["stale"], self._row
        entry = Signal(struct_layout(self._params.entry_layout))
        is_write = row.kind.matches(_K.UNCACHED_WRITE, _K.DMA_WRITE)
        bounds = Signal.like(self._bytes)
        m.d.comb += bounds.eq(Mux(is_write, self._bytes, self._lines))
        with m.State("COPY"):
            for number, (cam, slots) in enumerate(zip(sources, pending, strict=True)):
                with m.If(slots.any() & ~Cat(pending[:number]).any()):
                    m.d.sync += [entry.eq(cam.o_entry), slots.eq(slots & (slots - 1))]
            m.next = "CUT"
        with m.State("CUT"):
            with m.If(entry.first < bounds.first):
                m.d.sync += entry.first.eq(bounds.first)
            with m.If(entry.end > bounds.end):
                m.d.sync += entry.end.eq(bounds.end)
            # What is written is stale by the write, whatever filled the line.
            with m.If(is_write):
                m.d.sync += [entry.tag.eq(row.tag), entry.others.eq(0)]
            m.next = "INSERT"
        with m.State("INSERT"):
            self._use(m, [stale], _range(entry.first, entry.end), Command.INSERT)
            origin = stale.i_origin
            m.d.comb += [
                origin.tag.eq(entry.tag), origin.others.eq(entry.others),
                origin.imprecise.eq(entry.imprecise), apply.eq(stale.o_ready),
            ]  # fmt: skip
            with m.If(stale.o_ready):
                self._next(m, is_done, {"copy": Cat(pending).any()})

    # What was met -----------------------------------------------------------------------

    def _finish(self, m: Module, ready: Value, is_done: Value) -> Value:
        """Report and trace a row in the cycle after its last; gives whether nothing is left."""
        params = self._params
        checked = Signal.like(self._row)
        is_finishing, finish = Signal(), Signal()
        m.d.comb += finish.eq(is_finishing & ready)
        with m.If(finish):
            m.d.sync += is_finishing.eq(0)
        with m.If(is_done):
            m.d.sync += [is_finishing.eq(1), checked.eq(self._row)]
        of_cache = [
            cam for cam in self._sets.values() if cam not in (*self._writing, *self._reading)
        ]
        dma = self._gather(m, "dma", [*self._writing, *self._reading], finish)
        cache = self._gather(m, "cache", of_cache, finish)
        report = self.o_report
        m.d.comb += self.o_step.eq(finish)
        m.d.sync += report.valid.eq(finish & (dma.found | cache.found))
        payloads = [report.payload]
        if params.trace_port:
            digest = Const(0, 32)
            for number, cam in enumerate(self._sets.values()):
                digest ^= cam.o_digest.rotate_left(number * DIGEST_TURN % 32)
            m.d.sync += [self.trace.valid.eq(finish), self.trace.payload.digest.eq(digest)]
            payloads.append(self.trace.payload)
        for payload in payloads:
            m.d.sync += [payload.row.eq(checked), payload.dma.eq(dma), payload.cache.eq(cache)]
        return ~is_finishing & ~report.valid & ready

    def _gather(self, m: Module, name: str, cams: list[IntervalCam], finish: Value) -> Signal:
        """The first definite hit of all cycles of a row, else the first."""
        earlier, hit = (
            Signal(struct_layout(self._params.hit_layout), name=f"{name}_{part}")
            for part in ("earlier", "hit")
        )
        first = reduce(
            _first_of, [Value.cast(one) for one in (earlier, *(cam.o_hit for cam in cams))]
        )
        m.d.comb += hit.eq(first)
        m.d.sync += earlier.eq(Mux(finish, 0, Value.cast(hit)))
        return hit


def _range(first: Value, end: Value) -> Value:
    """A range as ``range_layout`` has it."""
    return Cat(first, end)


def _first_of(one: Value, other: Value) -> Value:
    """The first definite one of two hits, else the first; their lowest bits say what they are."""
    keeps = one[1] | (one[0] & ~other[1])
    return Mux(keeps, one, other)
