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
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.noncoherent.bitmap import Bitmap
from racetrap.rtl.noncoherent.interval_cam import Command, IntervalCam
from racetrap.rtl.noncoherent.layouts import range_layout, report_signature, trace_signature
from racetrap.rtl.noncoherent.row_ring import RowRing

_K = OperationKind
_CLEANS = (_K.CACHE_CLEAN, _K.CLEAN_ALL)
_FLUSHES = (_K.CACHE_FLUSH, _K.FLUSH_ALL)
_INVALIDATES = (_K.CACHE_INVALIDATE, _K.INVALIDATE_ALL)
#: First state of each kind of further work on a row, in order.
_STATES = {"dma": "DMA", "sides": "LEFT", "copy": "DRAIN"}


class Monitor(wiring.Component):
    """Takes rows, reports their races, and keeps the sets of bytes.

    A row is compared with all sets in the two cycles after it was taken and takes effect in the
    next; throughput is one row a cycle.  In mode ``strict`` some rows need further lookups, and the
    rows behind them restart: this takes four cycles, one for each lookup (a cached access to a line
    under DMA; both sides and the bytes of a cached write to stale bytes), and seven for each entry
    of which bytes become stale.  After a set has run out of entries the next row waits as long as
    ``Compactor`` states, and four cycles; likewise for ``Bitmap`` after a range of several words.
    The races of a row are known three cycles after its last lookup.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(row_layout))``
        Rows.
    i_enable : ``In(1)``
        Rows are checked; otherwise they are taken and ignored.
    i_clear : ``In(1)``
        Pulse: empty all sets before the next row.
    o_report : ``Out({valid, payload: report_layout})``
        Rows that race, without back-pressure; ``sequence`` is 0.
    o_step : ``Out(1)``
        Pulse: a row has been checked.
    o_compacted : ``Out(1)``
        Pulse: a full set has merged two entries.
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
        sets = self._sets = {
            name: Bitmap(params)
            if params.window_bytes and name == "dirty_granules"
            else IntervalCam(params)
            for name in params.set_names
        }
        engines = range(params.engines)
        self._writing = [sets[f"writing_{engine}"] for engine in engines]
        self._reading = [sets[f"reading_{engine}"] for engine in engines]
        m.submodules.rows = self._rows = rows = RowRing(params)
        wiring.connect(m, wiring.flipped(self.i), rows.i)
        self._row = rows.o_first.row
        self._widen(m)
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
            rows.i_enable.eq(self.i_enable),
        ]
        is_done, is_drained = self._check(m, ready)
        is_quiet = self._finish(m, ready, is_done)
        m.d.comb += self.o_idle.eq(rows.o_empty & is_drained & is_quiet)
        return m

    def _widen(self, m: Module) -> None:
        """Bytes, granules and lines of the row that starts."""
        shape, row = range_layout(self._params), self._row
        self._bytes, self._granules, self._lines = (
            Signal(shape, name=name) for name in ("bytes", "granules", "lines")
        )
        for wide, unit in (
            (self._bytes, 1), (self._granules, self._params.memory.write_unit),
            (self._lines, self._params.line_bytes),
        ):  # fmt: skip
            bits = unit.bit_length() - 1
            m.d.comb += [
                wide.first.eq(Cat(Const(0, bits), row.first[bits:])),
                wide.end.eq(Cat(Const(0, bits), (row.end + (unit - 1))[bits:])),
            ]

    def _use(
        self, m: Module, cams: Iterable[IntervalCam], bytes_: Value,
        command: Command = Command.NONE, *, query: bool = False,
    ) -> None:  # fmt: skip
        """Command of a set for a range, if enabled."""
        for cam in cams:
            m.d.comb += [cam.i_range.eq(bytes_), cam.i_command.eq(command), cam.i_query.eq(query)]

    # Stages -----------------------------------------------------------------------------

    def _check(self, m: Module, ready: Value) -> tuple[Value, Value]:
        """Four stages: a lookup starts, is compared in two, takes effect.

        Returns whether a row has had its last lookup, and whether the pipeline is empty.
        """
        rows = self._rows
        starts, is_first, is_last, stop, clearing = (
            Signal(name=name) for name in ("starts", "is_first", "is_last", "stop", "clearing")
        )
        # For the lookups that are compared and take effect.
        valid, first, last = (Signal(3, name=name) for name in ("looks", "firsts", "lasts"))
        early = Signal(2)
        blocked, execute, is_done = (
            Signal(name=name) for name in ("blocked", "execute", "is_done")
        )
        for flag, given in ((valid, 1), (first, is_first), (last, is_last)):
            m.d.sync += flag.eq(Cat(starts & given, flag[:-1] & ~stop.replicate(2)))
        m.d.sync += early.eq(Cat(~ready, early))
        needs = self._needs(m, first[-1])
        m.d.comb += [
            # Compared before all sets had a free entry, or one has none now.
            blocked.eq(first[-1] & (early.any() | ~ready)),
            execute.eq(valid[-1] & ~blocked),
            stop.eq(blocked | Cat(needs.values()).any()),
            is_done.eq((first[-1] & ~stop) | last[-1]),
        ]
        for cam in self._sets.values():
            m.d.comb += [
                cam.i_valid.eq(starts), cam.i_execute.eq(execute),
            ]  # fmt: skip
            # A bitmap sees only what has been written to memory.
            if isinstance(cam, IntervalCam):
                m.d.comb += cam.i_drop.eq(stop)
        is_drained = ~valid.any() & ~clearing
        with m.If(self.i_clear):
            m.d.sync += clearing.eq(1)
        if self._params.is_strict:
            needs_sides = Signal()
            with m.If(stop):
                m.d.sync += needs_sides.eq(needs["sides"])
            sources, pending = self._sources(m, stop, needs)
        with m.FSM():
            with m.State("RUN"):
                m.d.comb += [
                    starts.eq(rows.o_first.held & ~stop), is_first.eq(1), rows.i_open.eq(~clearing),
                    rows.i_shift.eq(~stop), rows.i_rotate.eq(stop),
                ]  # fmt: skip
                with m.If(stop):
                    self._go_to(m, needs)
                    with m.If(blocked):
                        m.next = "WAIT"
                with m.Elif(clearing & rows.o_empty & ~valid.any() & ready):
                    m.next = "CLEAR"
            with m.State("WAIT"):
                m.d.comb += [starts.eq(ready), is_first.eq(1), rows.i_rotate.eq(ready)]
                with m.If(ready):
                    m.next = "NEXT"
            # The two rows behind one with further lookups.
            for state, next_state in (("NEXT", "SECOND"), ("SECOND", "RUN")):
                with m.State(state):
                    m.d.comb += [
                        starts.eq(rows.o_first.held), is_first.eq(1), rows.i_rotate.eq(1),
                    ]  # fmt: skip
                    m.next = next_state
            with m.State("CLEAR"):
                m.d.comb += starts.eq(1)
                for cam in self._sets.values():
                    m.d.comb += cam.i_clear.eq(1)
                m.d.sync += clearing.eq(0)
                m.next = "RUN"
            if self._params.is_strict:
                is_settled = ~valid.any() & ready
                self._look_again(m, starts, is_last, is_settled, needs_sides, sources, pending)
        with m.If(is_first):
            if self._params.is_strict:
                self._strict(m)
            else:
                self._thesis(m)
            with m.Switch(self._row.kind):
                with m.Case(_K.SYNC, _K.SYNC_ALL):
                    self._sync(m)
        return is_done, is_drained

    def _needs(self, m: Module, is_first: Value) -> dict[str, Value]:
        """Further work on a row after its first lookup, by the names of ``_STATES``."""
        if not self._params.is_strict:
            return {}
        kind, sets = self._rows.o_last.row.kind, self._sets
        is_access = kind.matches(_K.CACHED_READ, _K.CACHED_WRITE)
        fills = is_access
        if self._params.prefetch:
            fills = kind.matches(_K.CACHED_READ, _K.CACHED_WRITE, *_FLUSHES, *_INVALIDATES)
        meets_dma = Cat(cam.o_overlap for cam in self._writing).any()
        needs = {name: Signal(name=f"needs_{name}") for name in _STATES}
        copies = fills & meets_dma
        if not self._params.prefetch:
            copies |= self._makes_stale(kind) & sets["valid"].o_overlap.any()
        m.d.comb += [
            needs["dma"].eq(is_first & is_access & meets_dma),
            needs["sides"].eq(is_first & (kind == _K.CACHED_WRITE) & sets["stale"].o_overlap.any()),
            needs["copy"].eq(is_first & copies),
        ]
        return dict(needs)

    def _makes_stale(self, kind: Value) -> Value:
        """Whether memory is written without the cache being updated."""
        writes = [_K.DMA_WRITE]
        if not self._params.uncached_snoops_cache:
            writes.append(_K.UNCACHED_WRITE)
        return kind.matches(*writes)

    def _go_to(self, m: Module, needs: Mapping[str, Value]) -> None:
        """Go to the first state with work left."""
        for name, state in reversed(_STATES.items()):
            if name in needs:
                with m.If(needs[name]):
                    m.next = state

    def _go_on(self, m: Module, starts: Value, is_last: Value, left: Mapping[str, Value]) -> None:
        """Start a lookup, and continue with remaining work or with the next row."""
        m.d.comb += starts.eq(1)
        self._go_to(m, left)
        with m.If(~Cat(left.values()).any()):
            m.d.comb += [is_last.eq(1), self._rows.i_rotate.eq(1)]
            m.next = "NEXT"

    # First look -------------------------------------------------------------------------

    def _sync(self, m: Module) -> None:
        for engine, cams in enumerate(zip(self._writing, self._reading, strict=True)):
            is_meant = (self._row.kind == _K.SYNC_ALL) | (self._row.engine == engine)
            for cam in cams:
                with m.If(is_meant):
                    m.d.comb += cam.i_clear.eq(1)

    def _named(self, *names: str) -> list[list[IntervalCam]]:
        """The set of each name, or none if the instance has none."""
        return [[self._sets[name]] if name in self._sets else [] for name in names]

    def _look_at_others(self, m: Module, sets: Sequence[list[IntervalCam]]) -> None:
        """Look bytes up among those of other engines."""
        for cams in sets:
            for engine, cam in enumerate(cams):
                m.d.comb += cam.i_query.eq(self._row.engine != engine)

    def _issue(self, m: Module, cams: list[IntervalCam]) -> None:
        """Insert bytes into the set of the row's engine."""
        for engine, cam in enumerate(cams):
            with m.If(self._row.engine == engine):
                m.d.comb += cam.i_command.eq(Command.INSERT)

    def _thesis(self, m: Module) -> None:
        (dirty,) = self._named("dirty_granules")
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

    def _strict(self, m: Module) -> None:
        dirty_granules, dirty_bytes, stale = self._named("dirty_granules", "dirty_bytes", "stale")
        writing, reading = self._writing, self._reading
        snoops = self._params.uncached_snoops_cache
        with m.Switch(self._row.kind):
            with m.Case(_K.CACHED_READ):
                self._use(m, stale, self._bytes, query=True)
                self._fill(m)
            with m.Case(_K.CACHED_WRITE):
                self._use(m, reading, self._bytes, query=True)
                self._use(m, stale, self._granules)
                self._use(m, dirty_granules, self._granules, Command.INSERT)
                self._use(m, dirty_bytes, self._bytes, Command.INSERT)
                self._fill(m)
            with m.Case(_K.UNCACHED_READ):
                self._use(m, writing, self._bytes, query=True)
                self._use(m, dirty_bytes, self._bytes, query=not snoops)
            with m.Case(_K.UNCACHED_WRITE):
                self._use(m, [*writing, *reading], self._bytes, query=True)
                if snoops:
                    self._use(m, [*stale, *dirty_bytes], self._bytes, Command.REMOVE)
                else:
                    self._use(m, dirty_granules, self._bytes, query=True)
                    self._make_stale(m)
            with m.Case(_K.DMA_READ):
                self._use(m, dirty_bytes, self._bytes, query=True)
                self._look_at_others(m, [writing])
                self._issue(m, reading)
            with m.Case(_K.DMA_WRITE):
                self._use(m, dirty_granules, self._bytes, query=True)
                self._look_at_others(m, [writing, reading])
                self._issue(m, writing)
                self._make_stale(m)
            with m.Case(*_CLEANS):
                self._use(m, [*dirty_granules, *dirty_bytes], self._lines, Command.REMOVE)
            with m.Case(*_FLUSHES, *_INVALIDATES):
                self._use(m, [*dirty_granules, *stale], self._lines, Command.REMOVE)
                self._use(m, dirty_bytes, self._lines, Command.REMOVE)
                for cam in dirty_bytes:
                    m.d.comb += cam.i_query.eq(self._row.kind.matches(*_INVALIDATES))
                if self._params.prefetch:
                    # The cache may refill the line at once.
                    self._fill(m)
                else:
                    self._use(m, [self._sets["valid"]], self._lines, Command.REMOVE)

    def _fill(self, m: Module) -> None:
        """Let the cache fill lines, with bytes from before an engine writes them."""
        self._use(m, self._writing, self._lines)
        if not self._params.prefetch:
            self._use(m, [self._sets["valid"]], self._lines, Command.INSERT)

    def _make_stale(self, m: Module) -> None:
        """Memory changes behind the cache in valid lines: request another lookup."""
        if self._params.prefetch:
            self._use(m, [self._sets["stale"]], self._bytes, Command.INSERT)

    # Further looks of mode strict -------------------------------------------------------

    def _look_again(
        self, m: Module, starts: Value, is_last: Value, is_settled: Value, needs_sides: Value,
        sources: list[IntervalCam], pending: list[Signal],
    ) -> None:  # fmt: skip
        """Look up exact bytes where a line or granule has a match; the row is first again."""
        row, bytes_, granules = self._row, self._bytes, self._granules
        stale = [self._sets["stale"]]
        copies = Cat(pending).any()
        with m.State("DMA"):
            exact = Mux(row.kind == _K.CACHED_WRITE, granules, bytes_)
            self._use(m, self._writing, exact, query=True)
            self._go_on(m, starts, is_last, {"sides": needs_sides, "copy": copies})
        for state, next_state, begin, end in (
            ("LEFT", "RIGHT", granules.first, bytes_.first),
            ("RIGHT", "REMOVE", bytes_.end, granules.end),
        ):
            with m.State(state):
                m.d.comb += starts.eq(begin != end)
                self._use(m, stale, _range(begin[: len(bytes_.first)], end), query=True)
                m.next = next_state
        with m.State("REMOVE"):
            self._use(m, stale, bytes_, Command.REMOVE)
            self._go_on(m, starts, is_last, {"copy": copies})
        self._copy(m, sources, pending, starts, is_last, is_settled)

    def _sources(
        self, m: Module, stop: Value, needs: Mapping[str, Value]
    ) -> tuple[list[IntervalCam], list[Signal]]:
        """Sets whose entries become partly stale, and which entries are still pending."""
        is_write = self._rows.o_last.row.kind.matches(_K.UNCACHED_WRITE, _K.DMA_WRITE)
        sources = [(cam, ~is_write) for cam in self._writing]
        if not self._params.prefetch:
            sources.append((self._sets["valid"], is_write))
        pending = []
        for number, (cam, is_meant) in enumerate(sources):
            slots = Signal(self._params.entries, name=f"pending_{number}")
            with m.If(stop):
                meant = (is_meant & needs["copy"]).replicate(len(slots))
                m.d.sync += slots.eq(cam.o_overlap & meant)
            m.d.comb += cam.i_slot.eq((slots & -slots)[: len(slots)])
            pending.append(slots)
        return [cam for cam, _ in sources], pending

    def _copy(
        self, m: Module, sources: list[IntervalCam], pending: list[Signal], starts: Value,
        is_last: Value, is_settled: Value,
    ) -> None:  # fmt: skip
        """Copy one pending entry to the stale set, as far as it lies in the row's bytes or
        lines."""
        stale, row = self._sets["stale"], self._row
        entry = Signal(struct_layout(self._params.entry_layout))
        is_write = row.kind.matches(_K.UNCACHED_WRITE, _K.DMA_WRITE)
        bounds = Signal.like(self._bytes)
        m.d.comb += bounds.eq(Mux(is_write, self._bytes, self._lines))
        with m.State("DRAIN"):
            m.d.comb += [cam.i_read.eq(is_settled) for cam in sources]
            with m.If(is_settled):
                m.next = "READ"
        with m.State("READ"):
            for number, (cam, slots) in enumerate(zip(sources, pending, strict=True)):
                with m.If(slots.any() & ~Cat(pending[:number]).any()):
                    m.d.sync += [entry.eq(cam.o_entry), slots.eq(slots & (slots - 1))]
            m.next = "CUT"
        with m.State("CUT"):
            with m.If(entry.first < bounds.first):
                m.d.sync += entry.first.eq(bounds.first)
            with m.If(entry.end > bounds.end):
                m.d.sync += entry.end.eq(bounds.end)
            # Written bytes are stale because of the write, whatever filled the line.
            with m.If(is_write):
                m.d.sync += [entry.tag.eq(row.tag), entry.others.eq(0)]
            m.next = "INSERT"
        with m.State("INSERT"):
            self._use(m, [stale], _range(entry.first, entry.end), Command.INSERT)
            origin = stale.i_origin
            m.d.comb += [
                origin.tag.eq(entry.tag), origin.others.eq(entry.others),
                origin.imprecise.eq(entry.imprecise),
            ]  # fmt: skip
            self._go_on(m, starts, is_last, {"copy": Cat(pending).any()})

    # What was met -----------------------------------------------------------------------

    def _finish(self, m: Module, ready: Value, is_done: Value) -> Value:
        """Report and trace a row when all sets have a free entry; returns whether it is idle."""
        params = self._params
        checked, finished = (Signal.like(self._row, name=name) for name in ("checked", "finished"))
        is_finishing, finish, is_finished = (
            Signal(name=name) for name in ("is_finishing", "finish", "is_finished")
        )
        m.d.comb += finish.eq(is_finishing & ready)
        m.d.sync += is_finished.eq(finish)
        with m.If(finish):
            m.d.sync += [is_finishing.eq(0), finished.eq(checked)]
        with m.If(is_done):
            m.d.sync += [is_finishing.eq(1), checked.eq(self._rows.o_last.row)]
        of_cache = [
            cam for cam in self._sets.values() if cam not in (*self._writing, *self._reading)
        ]
        dma = self._gather(m, "dma", [*self._writing, *self._reading], is_finished)
        cache = self._gather(m, "cache", of_cache, is_finished)
        report = self.o_report
        m.d.comb += self.o_step.eq(is_finished)
        m.d.sync += report.valid.eq(is_finished & (dma.found | cache.found))
        payloads = [report.payload]
        if params.trace_port:
            digest, after = Const(0, 32), Signal(32)
            for number, cam in enumerate(self._sets.values()):
                digest ^= cam.o_digest.rotate_left(number * DIGEST_TURN % 32)
            m.d.sync += [
                after.eq(digest), self.trace.valid.eq(is_finished),
                self.trace.payload.digest.eq(after),
            ]  # fmt: skip
            payloads.append(self.trace.payload)
        for payload in payloads:
            m.d.sync += [payload.row.eq(finished), payload.dma.eq(dma), payload.cache.eq(cache)]
        return ~is_finishing & ~is_finished & ~report.valid & ready

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
    """A range as ``range_layout``."""
    return Cat(first, end)


def _first_of(one: Value, other: Value) -> Value:
    """The first definite one of two hits, else the first; the two lowest bits give the kind."""
    keeps = one[1] | (one[0] & ~other[1])
    return Mux(keeps, one, other)
