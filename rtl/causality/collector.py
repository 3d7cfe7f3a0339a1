"""Collector: what warps have learnt from each other, and have not yet acquired.

Ref: ScoRD (ISCA'20) Section VI; the order of fences as in the PTX memory model.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from racetrap.golden_model.causality.packets import (
    CollectorEvent,
    FenceOrder,
    RaceKind,
)
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.collector_phases import Routine
from racetrap.rtl.causality.collector_sweep import Sweep
from racetrap.rtl.causality.collector_taking import Taking
from racetrap.rtl.causality.collector_walk import Walk
from racetrap.rtl.causality.collector_work import Work
from racetrap.rtl.causality.knowledge_table import latest
from racetrap.rtl.causality.marker_gate import MarkerGate
from racetrap.rtl.causality.row_outlet import RowOutlet
from racetrap.rtl.common.layout import struct_layout

#: Largest tables, and flags of each kind, that one cycle can work on.
_MOST = {"known": 4, "pending": 4, "seen": 4, "undecided": 1, "levels": 4, "records": 4}

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
    i_arrives : ``In(banks)``
        As that of ``RowOutlet``.
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
            "i_arrives": In(params.banks),
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
        self._fenced = Signal(name="fenced")
        self._work = Work(params, m, gate, self._fenced)
        self._sweep = Sweep(params, m, self._work, self._fenced, gate, self._outlet)
        self._elaborate_leaving(m)
        self._elaborate_states(m)
        self._elaborate_outputs(m)
        return m

    # States -----------------------------------------------------------------------------

    def _elaborate_states(self, m):
        work, sweep = self._work, self._sweep
        learning = work.learning
        self._taking = taking = Taking(work, self._gate, self)
        walk = Walk(self._params, work, sweep.initial)
        m.d.comb += [
            work.write.addr.eq(work.warp), work.write.data.eq(learning.taker.packed()),
        ]  # fmt: skip
        with m.FSM(name="state") as states:
            self._is_waiting = states.ongoing("IDLE")
            sweep.elaborate_states(m)
            with m.State("IDLE"):
                with m.If(sweep.tells):
                    sweep.elaborate_tell(m)
                with m.Elif(sweep.is_full & self._gate.o_drained & self._outlet.o_is_free):
                    m.d.comb += [
                        self._gate.i_epoch.eq(1), self.o_trace.valid.eq(1),
                        self.o_trace.told.kind.eq(CollectorEvent.EPOCH),
                    ]  # fmt: skip
                    m.next = "EPOCH"
                with m.Else():
                    taking.elaborate_idle(m)
            walk.elaborate_states(m)
            with m.State("RUN"):
                taking.elaborate_ahead(m)
                goes_on = Cat(
                    work.routine[each]
                    for each in (Routine.WRITER, Routine.END_READ, Routine.GATHER)
                ).any()
                with m.If(learning.is_over):
                    m.next = "LEAVE"
                    with m.If(goes_on):
                        m.next = "NEXT"
            with m.State("NEXT"):
                walk.elaborate_next(m)
            with m.State("LEAVE"):
                self._elaborate_leave(m)

    def _elaborate_leave(self, m):
        """Write the record; its row and the warp go out, and the next item is taken."""
        work = self._work
        learning, routine = work.learning, work.routine
        self._taking.elaborate_ahead(m)
        with m.If(self._outlet.o_is_free):
            m.d.comb += [work.write.en.eq(1), self._outlet.i_leaves.eq(1)]
            is_notice = routine[Routine.WRITER] | routine[Routine.READER]
            with m.If(~is_notice):
                m.d.sync += work.latest.eq(latest(m, [work.latest, learning.taker.clock]))
            fences = routine[Routine.FENCE] & (work.marker.marker.order == FenceOrder.SC)
            m.d.comb += self._outlet.i_row.fenced.eq(self._fenced | fences)
            with m.If(fences):
                m.d.sync += self._fenced.eq(1)
            m.next = "IDLE"
            is_other = self._taking.next_warp() != work.warp
            with m.If(~work.loop.any() & is_other & self._sweep.has_told):
                # A record that is being written cannot be read.
                self._taking.elaborate_idle(m)
                with m.If(self._taking.is_ahead):
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
                & self._sweep.has_told
            ),
            self.o_counts.knowledge_evictions.eq(learning.evicts),
            self.o_counts.pending_full.eq(flags.is_full),
            self.o_counts.clock_wraps.eq(gate.i_epoch),
            *(self.o_counts[f"races_{kind.name.lower()}"].eq(
                flags.reports & (flags.race.race == kind)) for kind in RaceKind if kind),
        ]  # fmt: skip
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
        m.d.comb += outlet.i_arrives.eq(self.i_arrives)
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
