"""Harness for a proof on the collector: what a warp's record is when an item is done.

Beside the records stands a bit for each table: whether it must claim an arbitrary access when the
item is done, by the rules that the proof of order takes for granted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from racetrap.golden_model.causality.packets import FenceOrder, PacketKind, TransactionKind
from racetrap.rtl.causality.access import block_of
from racetrap.rtl.causality.collector_phases import Routine
from racetrap.rtl.common.layout import struct_layout
from tests.support.causality.collector_parts import GROWING, any_of
from tests.support.causality.collector_steps import CollectorSteps

_LOOP = (Routine.START, Routine.END_READ, Routine.GATHER, Routine.WHOLE, Routine.SOME)
_ONE = (Routine.FENCE, Routine.BEGIN, Routine.END, Routine.ARRIVE, Routine.ADVANCE)
_BLOCK = (Routine.START, Routine.END_READ, Routine.GATHER)
#: Routines that a state can have.
_ROUTINES: dict[str, Sequence[Routine]] = {
    "LOAD": (*_LOOP, *_ONE, Routine.WRITER),
    "SIDE": (Routine.WRITER, Routine.READER, Routine.END_WRITTEN),
    "BLOCK": _BLOCK,
    "WARPS": _BLOCK,
    "LOOP": _LOOP,
    "RUN": tuple(Routine),
    "NEXT": (Routine.WRITER, Routine.END_READ, Routine.GATHER),
    "LEAVE": (
        *_ONE, Routine.START, Routine.WHOLE, Routine.SOME, Routine.WRITER, Routine.READER,
        Routine.END_WRITTEN,
    ),
}  # fmt: skip


class CollectorHarness(CollectorSteps):
    """A collector, and what must become of the records of its warps."""

    def elaborate(self, platform):
        m = Module()
        self._elaborate_parts(m)
        self._elaborate_steps()
        self._elaborate_required(m)
        rules, events = self._rules()
        helps = [
            *self._helps_of_order(), *self._helps_of_targets(), *self._helps_of_claims(),
            *self._helps_of_same(), *self._helps_of_states(_ROUTINES), *self._helps_of_clocks(),
            *self._helps_of_barriers(), *self._helps_of_own(),
        ]  # fmt: skip
        self.state(m, rules, events, helps)
        return m

    def _elaborate_required(self, m: Module) -> None:
        """What the tables must claim, since the item's first routine began, and the record then."""
        work, taker, giver = self._work, self._learning.taker, self._learning.giver
        marker, goes_on = work.marker.marker, self._during(Routine.READER, Routine.END_WRITTEN)
        tables = len(self._taker)
        self._begins = self._fresh & ~goes_on
        joins = self._waits | (
            (marker.kind == TransactionKind.PARTIAL_BARRIER)
            & giver.arrived.bit_select(marker.number, 1)
        )
        self._gather = self._during(Routine.GATHER)
        gathers = self._fresh & self._gather & joins
        # What the warps at a barrier have, so far.
        before, self._together = Signal(tables, name="gathered"), Signal(tables, name="together")
        kept, self._must = Signal(tables, name="kept_must"), Signal(tables, name="must")
        required = self._required(self._together, joins)
        self._before = Signal(struct_layout(self._params.record_layout), name="record_before")
        m.d.comb += [
            self._together.eq(before | (Cat(self._giver.values()) & gathers.replicate(tables))),
            self._must.eq(Mux(self._begins, Cat(required.values()), kept)),
        ]
        m.d.sync += [
            before.eq(Mux(self._in("WARPS"), 0, self._together)),
            kept.eq(self._must),
        ]
        with m.If(self._begins):
            m.d.sync += self._before.as_value().eq(taker.packed())
        self._is_kept = self._in("RUN", "LEAVE", "NEXT") | (self._in("SIDE") & goes_on)

    def _acquires(self) -> Value:
        order = self._work.marker.marker.order
        return self._during(Routine.FENCE, Routine.END) & (order != FenceOrder.RELEASE)

    def _required(self, together: Value, joins: Value) -> dict[str, Value]:
        """What each table must claim when the routine has run that begins now."""
        taker, giver, has = self._learning.taker, self._learning.giver, self._taker
        acquires, required = self._acquires(), dict(self._taker)
        on_device = acquires & self._work.marker.marker.device
        start, some, writer, whole = (
            self._during(each)
            for each in (Routine.START, Routine.SOME, Routine.WRITER, Routine.WHOLE)
        )
        required["know"] = has["know"] | (acquires & has["here"]) | (on_device & has["far"])
        required["here"] = has["here"] & ~acquires
        required["far"] = has["far"] & ~on_device
        for name, learnt in self._learnt().items():
            required[name] |= writer & learnt
        for place, name in enumerate(self._params.tables):
            if name in ("know", "here", "far"):
                required[name] &= ~(whole & self._waits)
            is_there = giver.through_blocks.any() if name == "through" else Const(1)
            shares = (whole | (some & is_there)) & self._waits
            required[name] |= shares & together[place]
            required[name] |= self._gather & joins & self._giver[name]
        of_block = (taker.block == self._block) & (self.i_clock <= taker.bar)
        required["far"] |= start & (has["know"] | has["here"] | of_block)
        required["seen"] |= start & has["seen_here"]
        for name in ("know", "here", "seen_here"):
            required[name] &= ~start
        return required

    def _learnt(self) -> dict[str, Value]:
        """What a packet's warp learns from the writer of its word's entry."""
        notice, taker, giver = self._work.notice.notice, self._learning.taker, self._learning.giver
        packet, writer, other = notice.packet, notice.before.writer, self._giver
        is_current, block = writer.clock >= taker.start, block_of(self._params, writer)
        is_other = ~((writer.warp == packet.warp) & is_current) & writer.bytes.any()
        near = (block == packet.block) & is_current
        reads = packet.strong & (packet.kind != PacketKind.STORE)
        finds = is_other & notice.before.message.any() & reads
        met, took_on = finds & notice.met, is_other & notice.took_on
        at = (writer.clock - ~writer.operation)[: self._params.clock_bits]
        of_writer = (writer.warp == self.i_whose) & (block == self._block)
        of_block = ~near & (block == self._block) & (self.i_clock <= giver.bar)
        known = other["know"] | other["here"] | other["far"] | of_block

        def learnt(release: Value) -> Value:
            return known | (of_writer & (self.i_clock <= at) & (self.i_clock <= release))

        in_block, on_device = learnt(giver.release), learnt(giver.release_device)
        passed = took_on & ~near & writer.released
        passes = finds | (took_on & writer.released) | (took_on & ~near & writer.released_device)
        is_mine = passes & (giver.through_blocks & self._hash(taker.block)).any()
        everything = notice.unknown & reads & (self.i_clock <= self._work.latest)
        return {
            "here": everything | (is_mine & other["through"])
            | (((met & near) | (took_on & near & writer.released)) & in_block),
            "far": everything
            | (((met & ~near) | (took_on & ~near & writer.released_device)) & on_device),
            "through": everything | (passed & in_block)
            | (passes & giver.through_blocks.any() & other["through"]),
        }  # fmt: skip

    def _is_own(self, record: Any) -> Value:
        """Whether the access is the warp's own, behind which a record's clocks are."""
        current = (
            (self.i_clock < record.lanes_before)
            & (self.i_clock <= record.release)
            & (self.i_clock <= record.release_device)
        )
        return (self.i_whose == self._work.warp) & Mux(
            self.i_clock >= record.start, current, self.i_clock <= record.own
        )

    def _rules(self) -> tuple[list[Value], dict[str, Value]]:
        work, outlet, before = self._work, self._collector._outlet, self._before
        written, row = before.shape()(work.write.data), self._params.row_layout.fields
        claims, had = self._claims(written, "written"), self._claims(before, "had")
        leaves = self._in("LEAVE") & work.write.en
        of_notice = self._during(Routine.WRITER, Routine.READER)
        is_row = [Value.cast(written[name]) == Value.cast(outlet.i_row.row[name]) for name in row]
        is_same = [Value.cast(written[name]) == Value.cast(before[name]) for name in row]
        always = [
            *self._keeps(written),
            *(written[name] >= before[name] for name in ("clock", *GROWING)),
            outlet.i_has_row | Cat(is_same).all(),
            Cat(is_row).all() & (outlet.i_row.warp == work.warp),
            (outlet.i_resume.clock == written.clock) & (outlet.i_resume.sc == written.sc),
            work.write.addr == work.warp[: len(work.write.addr)],
        ]  # fmt: skip
        learns = {}
        for number, (name, holds) in enumerate(claims.items()):
            own = self._is_own(written) if name == "know" else Const(0)
            always.append(~self._must[number] | holds | own)
            learns[name] = leaves & self._must[number] & ~had[name]
        events = {
            "learns-by-a-message": learns["here"] & of_notice & ~written.here.bits.any(),
            "takes-in-at-a-fence": learns["know"] & self._acquires() & claims["know"],
            "own-access-returns": learns["know"] & self._acquires() & ~claims["know"],
        }
        return [~leaves | outlet.i_leaves, *(~leaves | rule for rule in always)], events

    # What the induction needs -----------------------------------------------------------

    def _helps_of_claims(self) -> list[Value]:
        """Each table has what it must, or it is on the way; and need not have what has gone."""
        work, due = self._work, self._due()
        taker, whole = self._learning.taker, self._during(Routine.WHOLE)
        start, acquires = self._during(Routine.START), self._acquires()
        settles = self._assigning(taker.own, taker.release)[-1]
        fences = self._during(Routine.FENCE, Routine.END, Routine.BEGIN)
        own = (
            self._is_own(taker) & ~self._gather & (~fences | (self.i_clock <= taker.clock))
            & (~whole | ((self.i_clock < self._inner["final"]) & ~self._is_ahead(settles)))
        )  # fmt: skip
        emptied = {
            "know": start, "here": start | acquires, "far": acquires & work.marker.marker.device,
            "seen_here": start,
        }  # fmt: skip
        shares, helps = self._during(Routine.WHOLE, Routine.SOME), []
        for number, name in enumerate(self._params.tables):
            must, together = self._must[number] & self._is_kept, self._together[number]
            between = self._gather & self._in("NEXT", "LOOP", "LOAD")
            helps += [
                ~must | due[name] | (own if name == "know" else Const(0)),
                ~(self._gather & self._in("RUN") & together) | self._must[number],
                ~(between & together) | self._taker[name],
                ~(shares & self._in("LOOP", "LOAD", "RUN", "LEAVE") & together)
                | self._giver[name],
            ]  # fmt: skip
            if name in emptied:
                helps.append(~(must & emptied[name]))
            if name in ("know", "here", "far"):
                helps.append(~(must & whole & self._waits) | together)
        return helps

    def _helps_of_clocks(self) -> list[Value]:
        """Clocks can be counted up."""
        work, inner, unit, last = self._work, self._inner, self._unit, self._params.last_clock
        taker, giver = self._learning.taker, self._learning.giver
        notice, marker = work.notice.notice, work.marker.marker
        goes = self._in("BLOCK", "WARPS", "LOOP", "LOAD", "SIDE", "RUN", "NEXT", "LEAVE")
        of_notice = self._during(Routine.WRITER, Routine.READER)
        shares = self._during(Routine.WHOLE, Routine.SOME)
        counted = self._in("RUN", "LEAVE", "SIDE", "NEXT") & ~of_notice
        takes = counted | (self._in("NEXT", "LOOP", "LOAD") & self._gather)
        has_giver = ~self._during(Routine.SOME) | work.waiting.any()
        gives = (counted | (self._in("LOOP", "LOAD") & shares)) & has_giver
        settles = self._assigning(taker.own, taker.release)[0]
        gathered = self._in("RUN", "NEXT") & self._gather
        return [
            *((each.clock <= last + 1) for each in (*self._places(taker), *self._places(giver))),
            *(record[name].lossy <= last + 2
              for record in (taker, giver) for name in self._params.tables),
            ~self._flight | ((unit.i_lossy <= last + 2) & (unit.i_known.clock <= last + 1)),
            (giver.bar <= last + 1) & (taker.bar <= last + 1),
            ~goes | of_notice | (marker.clock <= last),
            *(~(goes & of_notice) | ((each.clock != 0) & (each.clock <= last))
              for each in (notice.before.writer, notice.before.reader, notice.packet)),
            *(inner[f"clocks.row_{number}"] <= last
              for number in range(1 << self._params.warp_bits)),
            *(inner[name] <= last for name in ("top", "met_bar", "met_own")),
            *(~gathered | (giver[name] <= last)
              for name in ("clock", "arrived_clock", "bar", "own")),
            *(~takes | (each.clock <= last) for each in self._places(taker)),
            *(~gives | (each.clock <= last) for each in self._places(giver)),
            ~(counted & self._flight) | (has_giver & (unit.i_known.clock <= last)),
            (~gives | (giver.bar <= last)) & (~takes | (taker.bar <= last)),
            *(~(self._in("RUN") & self._is_ahead(at) & self._wanted[at])
              | (taker.clock <= (last if at < settles else last + 1))
              for at in self._assigning(taker.clock)),
        ]  # fmt: skip

    def _helps_of_barriers(self) -> list[Value]:
        """The clock behind a barrier is larger than all that its warps know."""
        work, inner, step = self._work, self._inner, self._step
        taker, giver, targets = self._learning.taker, self._learning.giver, inner["targets"]
        final, top, is_run = inner["final"], inner["top"], self._in("RUN")
        whole = self._during(Routine.WHOLE) & self._in("LOOP", "LOAD", "RUN", "LEAVE")
        some = self._during(Routine.SOME) & is_run
        (empties,) = self._assigning(taker.know, taker.here, taker.far, alone=True)
        settles = self._assigning(taker.own, taker.release)[-1]
        by_bits = self._by_bits(giver.know.bits, giver.know.lossy)
        others, again = work.others, self._active[self._repeats.index(True)]
        own = others.bit_select(work.warp[: self._params.warp_bits], 1)
        return [
            ~whole | (final > top),
            ~(whole & self._together[0]) | by_bits | (self.i_clock < final),
            ~(self._flight & whole & targets[0]) | (self._unit.i_known.clock < final),
            *(~whole | (each.clock < final) for each in self._known(giver)),
            *(~(whole & is_run) | self._is_ahead(empties) | (each.clock < final)
              for each in self._known(taker)),
            ~(whole & self._waits & self._in("RUN", "LEAVE")) | (taker.clock <= final),
            ~(some & self._waits & self._is_ahead(settles)) | (taker.clock <= top),
            ~(some & self._waits)
            | (taker.lanes_before <= top + 1) | (taker.lanes_before <= taker.clock),
            ~some | ~own,
            ~(some & again & (self._steps_left[0] | step[0])) | others.any(),
        ]  # fmt: skip

    def _helps_of_own(self) -> list[Value]:
        """A warp's clock is behind what its record says of it, and what has no row leaves it."""
        work, taker, before = self._work, self._learning.taker, self._before
        of_warp = self._in("RUN", "LEAVE", "SIDE", "NEXT") & ~self._gather
        of_marker = of_warp & ~self._during(Routine.WRITER, Routine.READER)
        kept = self._is_kept & ~self._gather & ~self._begins
        row = [Value.cast(taker[name]) == Value.cast(before[name])
               for name in self._params.row_layout.fields]  # fmt: skip
        settling = any_of([
            self._wanted[at] & self._is_ahead(at)
            for at in self._assigning(taker.own, taker.release)
        ])  # fmt: skip
        flight, known = self._flight, self._unit.i_known
        begins, clock = self._during(Routine.START), work.marker.marker.clock
        return [
            ~kept | self._collector._outlet.i_has_row | Cat(row).all(),
            *(~kept | (taker[name] >= before[name]) for name in ("clock", *GROWING)),
            *(~of_warp | (taker[name] <= taker.clock) for name in ("start", *GROWING)),
            ~of_warp | (taker.lanes_before <= taker.clock + 1),
            *(~of_warp | settling | (each.clock < taker.clock) for each in self._known(taker)),
            ~(of_warp & flight & self._inner["targets"][0]) | settling,
            *(~(of_marker & self._names(each, work.warp, taker)) | (each.clock <= taker.clock)
              for each in self._places(taker)),
            ~(of_marker & flight & self._names(known, work.warp, taker))
            | (known.clock <= taker.clock),
            ~(of_warp & begins) | (clock > taker.clock)
            | ((clock == taker.clock) & (taker.start == taker.clock)),
        ]  # fmt: skip
