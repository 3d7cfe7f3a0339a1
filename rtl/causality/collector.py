"""Collector: what warps have learnt from each other, and have not yet acquired.

Ref: ScoRD (ISCA'20) Section VI; the order of fences as in the PTX memory model.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from racetrap.golden_model.causality.packets import (
    CollectorEvent,
    FenceOrder,
    RaceKind,
    TransactionKind,
    Undecided,
)
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.collector_phases import Routine
from racetrap.rtl.causality.collector_work import Work, number_of
from racetrap.rtl.causality.knowledge_table import latest
from racetrap.rtl.causality.marker_gate import MarkerGate
from racetrap.rtl.causality.row_outlet import RowOutlet
from racetrap.rtl.common.layout import struct_layout

#: Largest tables, and flags of each kind, that one cycle can work on.
_MOST = {"known": 4, "pending": 4, "seen": 4, "undecided": 1, "levels": 4, "records": 4}

#: Kinds of marker of one warp, and of several, each with what the collector does.
_OF_ONE = {
    TransactionKind.FENCE: Routine.FENCE,
    TransactionKind.BEGIN: Routine.BEGIN,
    TransactionKind.END: Routine.END,
    TransactionKind.ARRIVE: Routine.ARRIVE,
    TransactionKind.IF: Routine.ADVANCE,
    TransactionKind.WARP_BARRIER: Routine.ADVANCE,
}
_OF_SEVERAL = {
    TransactionKind.BLOCK_START: Routine.START,
    TransactionKind.BLOCK_END: Routine.END_READ,
    TransactionKind.BARRIER: Routine.GATHER,
    TransactionKind.PARTIAL_BARRIER: Routine.GATHER,
}
COUNTS = (
    *(f"races_{kind.name.lower()}" for kind in RaceKind if kind),
    "knowledge_evictions", "pending_full", "clock_wraps",
)  # fmt: skip


def check_sizes(params: CausalityParams) -> None:
    """Raise ``ValueError`` if tables are larger than hardware can work on in a cycle."""
    for name, most in _MOST.items():
        value = getattr(params, name)
        if value > most:
            raise ValueError(f"Parameter {name} must be at most {most} in hardware, not {value}")


class Collector(wiring.Component):
    """Takes notices and markers one at a time, and sends rows to banks and clocks to SMs.

    Markers go first.  A row leaves when its marker is settled, and the warp goes on when all banks
    have the row.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_notice, i_marker : streams
        As those of ``MarkerGate``.
    o_row, o_resume : streams
        As those of ``RowOutlet``.
    o_report : ``Out(stream.Signature(report_layout))``
        Races; the sequence number is left 0.
    i_clear : ``In(1)``
        Pulse while all is idle: know nothing, as at kernel launch.
    i_epoch : ``In(1)``
        Pulse while all is idle: take all accesses so far as ordered.
    o_fenced : ``Out(1)``
        A warp has passed a ``fence.sc`` in this launch.
    o_counts : ``Out(StructLayout)``
        Pulses of counters.
    o_trace : ``Out({valid, told: collector_event_layout})``
        What is taken, begun or told in this cycle.
    o_idle : ``Out(1)``
        Nothing is held here.
    """

    def __init__(self, params: CausalityParams):
        check_sizes(params)
        self._params = params
        told = struct_layout(params.collector_event_layout)
        self._gate, self._outlet = MarkerGate(params), RowOutlet(params)
        super().__init__({
            "i_notice": self._gate.signature.members["i_notice"],
            "i_marker": self._gate.signature.members["i_marker"],
            "o_row": self._outlet.signature.members["o_row"],
            "o_resume": self._outlet.signature.members["o_resume"],
            "o_report": Out(stream.Signature(struct_layout(params.report_layout))),
            "i_clear": In(1),
            "i_epoch": In(1),
            "o_fenced": Out(1),
            "o_counts": Out(data.StructLayout(dict.fromkeys(COUNTS, 1))),
            "o_trace": Out(data.StructLayout({"valid": 1, "told": told})),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.gate = gate = self._gate
        for outer, inner in zip(
            [*self.i_notice, *self.i_marker], [*gate.i_notice, *gate.i_marker], strict=True
        ):
            connect(m, wiring.flipped(outer), inner)
        self._work = Work(params, m, gate, self.o_fenced)
        self._elaborate_states(m)
        self._elaborate_outputs(m)
        return m

    # States -----------------------------------------------------------------------------

    def _elaborate_states(self, m):
        work = self._work
        params, learning, read = self._params, work.learning, work.read
        sweep = Signal(params.slot_warp_bits + 1, name="sweep")
        last = (params.sm_count << params.warp_bits + 1) - 1
        self._is_whole, self._is_ahead = Signal(name="is_whole"), Signal(name="is_ahead")
        self._warps = Signal(params.warps_per_sm, name="warps")
        self._first_warp = Signal(range(params.warps_per_sm), name="first_warp")
        self._initial = Signal(struct_layout(params.record_layout), name="initial")
        m.d.comb += [
            work.write.addr.eq(work.warp), work.write.data.eq(learning.taker.packed()),
            self._initial.retired.eq(1), work.flags.cleared.eq(sweep),
            *(self._initial[name].eq(1) for name in ("start", "lanes_before", "clock")),
        ]  # fmt: skip
        with m.FSM(name="state") as states:
            self._is_waiting = states.ongoing("IDLE")
            with m.State("CLEAR"):
                m.d.comb += [
                    work.write.en.eq(1), work.write.addr.eq(sweep[1:]), work.flags.clears.eq(1),
                    work.write.data.eq(self._initial),
                ]  # fmt: skip
                m.d.sync += [sweep.eq(sweep + 1), work.latest.eq(1), self.o_fenced.eq(0)]
                with m.If(sweep == last):
                    m.d.sync += sweep.eq(0)
                    m.next = "IDLE"
            self._elaborate_epoch(m, sweep, last)
            with m.State("IDLE"):
                self._elaborate_idle(m)
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
                m.d.comb += work.flags.loads.eq(1)
                with m.If(~learning.is_same):
                    m.d.sync += learning.giver.eq(read.data)
                m.d.comb += learning.starts.eq(1)
                m.next = "RUN"
            with m.State("RUN"):
                self._elaborate_ahead(m)
                goes_on = Cat(
                    work.routine[each]
                    for each in (Routine.WRITER, Routine.END_READ, Routine.GATHER)
                ).any()
                with m.If(learning.is_over):
                    m.next = "LEAVE"
                    with m.If(goes_on):
                        m.next = "NEXT"
            with m.State("NEXT"):
                self._elaborate_next(m)
            with m.State("LEAVE"):
                self._elaborate_leave(m)

    def _elaborate_epoch(self, m, sweep, last):
        """Each record is read, and written without what is behind."""
        work = self._work
        taker = work.learning.taker
        with m.State("EPOCH"):
            m.d.comb += [work.read.en.eq(1), work.read.addr.eq(sweep[1:])]
            m.d.comb += work.flags.clears.eq(1)
            m.d.sync += sweep.eq(sweep + 1)
            m.next = "EPOCH_READ"
        with m.State("EPOCH_READ"):
            m.d.comb += work.flags.clears.eq(1)
            m.d.sync += taker.eq(work.read.data)
            m.next = "EPOCH_WRITE"
        with m.State("EPOCH_WRITE"):
            written = Signal(self._initial.shape(), name="written")
            kept = ("block", "retired", "sc", "ever", "arrived")
            m.d.comb += [
                work.write.en.eq(1), work.write.addr.eq(sweep[1:]), work.write.data.eq(written),
                *(written[name].eq(taker[name]) for name in kept),
                written.clock.eq(1), written.start.eq(1),
            ]  # fmt: skip
            m.d.sync += [sweep.eq(sweep + 1), work.latest.eq(1)]
            m.next = "EPOCH"
            with m.If(sweep == last):
                m.d.sync += sweep.eq(0)
                m.next = "IDLE"

    def _elaborate_idle(self, m):
        """Take a marker, or else a notice."""
        work = self._work
        gate, flags = self._gate, work.flags
        marker, packet = gate.o_marker.payload.marker, gate.o_notice.payload.notice.packet
        has_marker = gate.o_marker.valid
        m.d.comb += [
            gate.o_marker.ready.eq(1), gate.o_notice.ready.eq(~has_marker),
            work.read.addr.eq(Mux(has_marker, marker.warp, packet.warp)), work.read.en.eq(1),
            work.block_read.addr.eq(marker.block), work.block_read.en.eq(1),
            work.block_write.addr.eq(marker.block), work.block_write.data.eq(marker.warps),
            flags.address.eq(Cat(Const(0, 1), marker.warp)), flags.reads.eq(1),
            self.o_trace.valid.eq(has_marker | gate.o_notice.valid),
            self.o_trace.told.kind.eq(
                Mux(has_marker, CollectorEvent.MARKER, CollectorEvent.NOTICE)
            ),
            self.o_trace.told.source.eq(
                Mux(has_marker, gate.o_marker.payload.sm, gate.o_notice.payload.bank)
            ),
        ]  # fmt: skip
        m.d.sync += [
            work.marker.eq(gate.o_marker.payload), work.notice.eq(gate.o_notice.payload),
            work.learning.is_same.eq(0), work.loop.eq(0),
        ]  # fmt: skip
        with m.If(has_marker):
            m.d.sync += work.warp.eq(marker.warp)
            with m.Switch(marker.kind):
                for kind, routine in (_OF_ONE | _OF_SEVERAL).items():
                    with m.Case(kind):
                        m.d.sync += work.routine.eq(1 << routine)
                        m.next = "LOAD" if kind in _OF_ONE else "BLOCK"
            m.d.comb += work.block_write.en.eq(marker.kind == TransactionKind.BLOCK_START)
        with m.Elif(gate.o_notice.valid):
            m.d.sync += [work.warp.eq(packet.warp), work.routine.eq(1 << Routine.WRITER)]
            m.next = "LOAD"
        with m.Elif(self.i_clear):
            m.next = "CLEAR"
        with m.Elif(self.i_epoch):
            m.d.comb += [self.o_trace.valid.eq(1), self.o_trace.told.kind.eq(CollectorEvent.EPOCH)]
            m.next = "EPOCH"

    def _next_warp(self):
        """Warp of what is taken next."""
        marker, packet = self._gate.o_marker, self._gate.o_notice.payload.notice.packet
        return Mux(marker.valid, marker.payload.marker.warp, packet.warp)

    def _elaborate_ahead(self, m):
        """While a marker of one warp is worked on, read the record of the next such marker: it
        stays at the gate, and the record at the port, until that one leaves."""
        work, following = self._work, self._gate.o_marker
        of_one = Cat(work.routine[each] for each in set(_OF_ONE.values())).any()
        is_next = Cat(following.payload.marker.kind == kind for kind in _OF_ONE).any()
        with m.If(of_one):
            m.d.comb += [
                work.read.addr.eq(self._next_warp()), work.read.en.eq(1), work.flags.reads.eq(1),
                work.flags.address.eq(Cat(Const(0, 1), following.payload.marker.warp)),
            ]  # fmt: skip
        m.d.sync += self._is_ahead.eq(of_one & following.valid & is_next)

    def _elaborate_block(self, m):
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

    def _elaborate_loop(self, m):
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

    def _elaborate_load(self, m):
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

    def _elaborate_next(self, m):
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

    def _elaborate_leave(self, m):
        """Write the record; its row and the warp go out, and the next item is taken."""
        work = self._work
        learning, routine = work.learning, work.routine
        self._elaborate_ahead(m)
        with m.If(self._outlet.o_is_free):
            m.d.comb += [work.write.en.eq(1), self._outlet.i_leaves.eq(1)]
            is_notice = routine[Routine.WRITER] | routine[Routine.READER]
            with m.If(~is_notice):
                m.d.sync += work.latest.eq(latest(m, [work.latest, learning.taker.clock]))
            fences = routine[Routine.FENCE] & (work.marker.marker.order == FenceOrder.SC)
            with m.If(fences):
                m.d.sync += self.o_fenced.eq(1)
                m.d.comb += [
                    self.o_trace.valid.eq(~self.o_fenced),
                    self.o_trace.told.kind.eq(CollectorEvent.FENCED),
                ]
            m.next = "IDLE"
            has_told = fences & ~self.o_fenced
            with m.If(~work.loop.any() & (self._next_warp() != work.warp) & ~has_told):
                # A record that is being written cannot be read.
                self._elaborate_idle(m)
                with m.If(self._is_ahead):
                    m.d.sync += [learning.taker.eq(work.read.data),
                                 learning.giver.eq(work.read.data)]  # fmt: skip
                    m.d.comb += [learning.starts.eq(1), work.flags.loads.eq(1)]
                    m.next = "RUN"
            with m.If(work.loop.any()):
                m.next = "LOOP"
                # Flags that are read and those written over take turns.
                with m.If(routine[Routine.END_WRITTEN]):
                    m.d.sync += routine.eq(1 << Routine.END_READ)

    # Outputs ----------------------------------------------------------------------------

    def _elaborate_outputs(self, m):
        params, gate, learning, flags = (
            self._params,
            self._gate,
            self._work.learning,
            self._work.flags,
        )
        report_waits = self.o_report.valid
        m.d.comb += [
            learning.blocked.eq(report_waits | flags.fires),
            self.o_idle.eq(
                self._is_waiting & gate.o_idle & self._outlet.o_is_free & ~report_waits
            ),
            self.o_counts.knowledge_evictions.eq(learning.evicts),
            self.o_counts.pending_full.eq(flags.is_full),
            self.o_counts.clock_wraps.eq(
                self._is_waiting & ~gate.o_marker.valid & ~gate.o_notice.valid & self.i_epoch
                & ~self.i_clear
            ),
            *(self.o_counts[f"races_{kind.name.lower()}"].eq(
                flags.reports & (flags.race.race == kind)) for kind in RaceKind if kind),
        ]  # fmt: skip
        self._elaborate_leaving(m)
        report, race = self.o_report.payload, flags.race
        with m.If(flags.reports):
            m.d.sync += [
                report_waits.eq(1), report.address.eq(race.word << 2),
                report.late.eq(flags.is_late),
                *(report[name].eq(race[name]) for name in params.race_layout.fields
                  if name != "word"),
            ]  # fmt: skip
        with m.Elif(self.o_report.ready):
            m.d.sync += report_waits.eq(0)

    def _elaborate_leaving(self, m):
        """What leaves: a row for all banks, and the clock of its warp for its SM."""
        params, work, outlet = self._params, self._work, self._outlet
        taker, marker, routine = work.learning.taker, work.marker, work.routine
        m.submodules.outlet = outlet
        row, resume, starts = outlet.i_row, outlet.i_resume, routine[Routine.START]
        met = (routine[Routine.WHOLE] | routine[Routine.SOME]) & work.barrier.is_waiting
        acquires = (routine[Routine.FENCE] | routine[Routine.END]) & (
            marker.marker.order != FenceOrder.RELEASE
        )
        goes_on = Cat(
            routine[each]
            for each in (Routine.FENCE, Routine.BEGIN, Routine.END, Routine.ARRIVE, Routine.START,
                         Routine.END_WRITTEN)
        ).any()  # fmt: skip
        # Where no warp waits, the last one of the block lets the SM go on.
        answers = routine[Routine.SOME] & ~work.waiting.any() & ~work.loop.any()
        m.d.comb += [
            outlet.i_has_row.eq(acquires | met | starts),
            outlet.i_has_resume.eq(goes_on | met | answers),
            row.warp.eq(work.warp), row.begins.eq(starts), row.met.eq(met),
            *(row.row[name].eq(taker[name]) for name in params.row_layout.fields),
            resume.warp.eq(work.warp[: params.warp_bits]), resume.clock.eq(taker.clock),
            resume.sc.eq(taker.sc), resume.is_last.eq(~(work.loop & work.waiting).any()),
            outlet.i_sm.eq(marker.sm),
        ]  # fmt: skip
        for outer, inner in zip(
            [*self.o_row, *self.o_resume], [*outlet.o_row, *outlet.o_resume], strict=True
        ):
            connect(m, inner, wiring.flipped(outer))
