"""Walk: the records that a routine needs, of one warp after the other.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal

from racetrap.golden_model.causality.packets import TransactionKind, Undecided
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.collector_phases import Routine
from racetrap.rtl.causality.collector_work import Work, number_of
from racetrap.rtl.causality.knowledge_table import latest


class Walk:
    """States of the collector from an item to its records.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    work : Work
        What is worked on.
    initial : Signal
        A record of a warp slot that has had no block.
    """

    def __init__(self, params: CausalityParams, work: Work, initial: Signal):
        self._params, self._work, self._initial = params, work, initial
        self._is_whole = Signal(name="is_whole")
        self._warps = Signal(params.warps_per_sm, name="warps")
        self._first_warp = Signal(range(params.warps_per_sm), name="first_warp")

    def elaborate_states(self, m: Module) -> None:
        """Add them; the last ones lead to RUN."""
        work, learning, read = self._work, self._work.learning, self._work.read
        with m.State("BLOCK"):
            m.d.sync += [
                self._warps.eq(work.block_read.data),
                self._first_warp.eq(number_of(work.block_read.data)),
            ]
            m.next = "WARPS"
        with m.State("WARPS"):
            self._elaborate_block(m)
            m.next = "LOOP"
        with m.State("LOOP"):
            self._elaborate_loop(m)
            m.next = "LOAD"
        with m.State("LOAD"):
            self._elaborate_load(m)
        with m.State("SIDE"):
            m.d.comb += [
                work.flags.loads.eq(1), work.flags.looks.eq(work.routine[Routine.WRITER]),
            ]  # fmt: skip
            with m.If(~learning.is_same):
                m.d.sync += learning.giver.eq(read.data)
            m.d.comb += learning.starts.eq(1)
            m.next = "RUN"

    def _elaborate_block(self, m: Module) -> None:
        """The warps concerned are known; a barrier begins with nothing gathered."""
        work = self._work
        barrier, marker, learning = work.barrier, work.marker.marker, work.learning
        params, warps = self._params, self._warps
        # A barrier's warps are counted from the block's first.
        waiting = Signal(params.warps_per_sm, name="some_warps")
        m.d.comb += waiting.eq(marker.warps << self._first_warp)
        is_partial = marker.kind == TransactionKind.PARTIAL_BARRIER
        is_start = marker.kind == TransactionKind.BLOCK_START
        m.d.sync += [
            work.loop.eq(Mux(is_start, marker.warps, warps)),
            work.waiting.eq(Mux(is_partial, waiting, Mux(is_start, marker.warps, warps))),
            work.everybody.eq(0), barrier.top.eq(0), barrier.bar.eq(0), barrier.own.eq(0),
            learning.is_same.eq(is_start), self._is_whole.eq(~is_partial | (waiting == warps)),
        ]  # fmt: skip
        with m.If(work.routine[Routine.GATHER]):
            m.d.sync += [learning.taker.eq(self._initial), learning.taker.block.eq(marker.block)]
            # If no warp waits, those that have arrived are done with it, and nobody learns.
            with m.If(is_partial & ~waiting.any()):
                m.d.sync += work.routine.eq(1 << Routine.SOME)

    def _elaborate_loop(self, m: Module) -> None:
        """The next of several warps."""
        work = self._work
        params = self._params
        slot = Signal(params.warp_bits, name="slot")
        warp = Cat(slot, work.marker.sm)
        m.d.comb += [
            slot.eq(number_of(work.loop)),
            work.read.addr.eq(warp), work.read.en.eq(1),
            work.flags.address.eq(Cat(Const(0, 1), warp)), work.flags.reads.eq(1),
        ]  # fmt: skip
        m.d.sync += [work.warp.eq(warp), work.loop.eq(work.loop & (work.loop - 1))]

    def _elaborate_load(self, m: Module) -> None:
        """A record has come: the taker's, the giver's, or both at once."""
        work = self._work
        params, learning, routine, read = self._params, work.learning, work.routine, work.read
        before, packet = work.notice.notice.before, work.notice.notice.packet
        side = Signal(params.slot_warp_bits, name="side_warp")
        undecided, reads = work.notice.notice.undecided, Signal(name="reads_flag")
        is_notice = routine[Routine.WRITER]
        m.d.comb += [
            side.eq(before.writer.warp),
            reads.eq(undecided == Undecided.READ),
        ]
        m.d.comb += work.flags.loads.eq(1)
        with m.If(~routine[Routine.GATHER]):
            m.d.sync += learning.taker.eq(read.data)
        with m.If(~is_notice & ~routine[Routine.WHOLE] & ~routine[Routine.SOME]):
            m.d.sync += learning.giver.eq(read.data)
        own = Signal(params.warps_per_sm, name="own_slot")
        m.d.comb += own.eq(1 << work.warp[: params.warp_bits])
        m.d.sync += work.others.eq(work.everybody & ~own)
        with m.If(is_notice):
            m.d.comb += [
                read.addr.eq(side), read.en.eq(1), work.flags.reads.eq(1),
                work.flags.address.eq(Mux(reads, Cat(Const(0, 1), packet.warp),
                                           Cat(Const(1, 1), side))),
            ]  # fmt: skip
            m.d.sync += learning.is_same.eq(side == packet.warp)
            m.next = "SIDE"
        with m.Else():
            m.d.comb += learning.starts.eq(1)
            m.next = "RUN"

    def elaborate_next(self, m: Module) -> None:
        """A routine is over: the reader, flags written, the next warp, or the end."""
        work = self._work
        params, learning, routine, barrier = (
            self._params, work.learning, work.routine, work.barrier
        )  # fmt: skip
        reader, has_more = work.notice.notice.before.reader, work.loop.any()
        own = Signal(params.warps_per_sm, name="joining")
        m.next = "LEAVE"
        with m.If(routine[Routine.WRITER] & reader.bytes.any()):
            m.d.comb += [
                work.read.addr.eq(reader.warp), work.read.en.eq(1), work.flags.reads.eq(1),
                work.flags.address.eq(Cat(Const(1, 1), reader.warp)),
            ]  # fmt: skip
            m.d.sync += [
                routine.eq(1 << Routine.READER),
                learning.is_same.eq(reader.warp == work.notice.notice.packet.warp),
            ]  # fmt: skip
            m.next = "SIDE"
        with m.Elif(routine[Routine.END_READ]):
            m.d.comb += [
                work.flags.address.eq(Cat(Const(1, 1), work.warp)), work.flags.reads.eq(1),
                work.read.addr.eq(work.warp), work.read.en.eq(1),
            ]  # fmt: skip
            m.d.sync += routine.eq(1 << Routine.END_WRITTEN)
            m.next = "SIDE"
        with m.Elif(routine[Routine.GATHER]):
            everybody = work.everybody | own
            m.d.comb += [
                own.eq(barrier.joins << work.warp[: params.warp_bits]),
                work.clock_write.en.eq(barrier.joins),
            ]
            m.d.sync += work.everybody.eq(everybody)
            with m.If(~has_more):
                known = learning.taker.know
                clocks = [known[f"known_{place}"].clock for place in range(params.known)]
                m.d.sync += [
                    learning.giver.eq(learning.taker), work.loop.eq(everybody),
                    barrier.final.eq(latest(m, [barrier.top, *clocks]) + 1),
                    routine.eq(Mux(self._is_whole, 1 << Routine.WHOLE, 1 << Routine.SOME)),
                ]  # fmt: skip
            m.next = "LOOP"
