"""Taking: what the collector works on next, a marker before a notice.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from racetrap.golden_model.causality.packets import CollectorEvent, TransactionKind
from racetrap.rtl.causality.collector_phases import Routine
from racetrap.rtl.causality.collector_work import Work
from racetrap.rtl.causality.marker_gate import MarkerGate

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


class Taking:
    """Takes items from the gate.

    Parameters
    ----------
    work : Work
        What is worked on.
    gate : MarkerGate
        Where items come from.
    ports : Collector
        Ports of the collector.

    Attributes
    ----------
    is_ahead : Signal
        The record of the marker that is taken next has been read.
    """

    def __init__(self, work: Work, gate: MarkerGate, ports: Any):
        self._work, self._gate, self._ports = work, gate, ports
        self.is_ahead = Signal(name="is_ahead")

    def elaborate_idle(self, m: Module) -> None:
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
            flags.address.eq(Cat(~has_marker, Mux(has_marker, marker.warp, packet.warp))),
            flags.reads.eq(1),
            self._ports.o_trace.valid.eq(has_marker | gate.o_notice.valid),
            self._ports.o_trace.told.kind.eq(
                Mux(has_marker, CollectorEvent.MARKER, CollectorEvent.NOTICE)
            ),
            self._ports.o_trace.told.source.eq(
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
        with m.Elif(self._ports.i_clear):
            m.next = "CLEAR"

    def next_warp(self) -> Value:
        """Warp of what is taken next."""
        marker, packet = self._gate.o_marker, self._gate.o_notice.payload.notice.packet
        return Mux(marker.valid, marker.payload.marker.warp, packet.warp)

    def elaborate_ahead(self, m: Module) -> None:
        """While a marker of one warp is worked on, read the record of the next such marker: it
        stays at the gate, and the record at the port, until that one leaves."""
        work, following = self._work, self._gate.o_marker
        of_one = Cat(work.routine[each] for each in set(_OF_ONE.values())).any()
        is_next = Cat(following.payload.marker.kind == kind for kind in _OF_ONE).any()
        with m.If(of_one):
            m.d.comb += [
                work.read.addr.eq(self.next_warp()), work.read.en.eq(1), work.flags.reads.eq(1),
                work.flags.address.eq(Cat(Const(0, 1), following.payload.marker.warp)),
            ]  # fmt: skip
        m.d.sync += self.is_ahead.eq(of_one & following.valid & is_next)
