"""Work of the collector: what it has at hand, its memories, and the phases of all routines.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.memory import Memory

from racetrap.golden_model.causality.packets import Against, TransactionKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.access import block_of
from racetrap.rtl.causality.barrier_phases import Barrier, BarrierPhases
from racetrap.rtl.causality.collector_phases import Routine
from racetrap.rtl.causality.flags import Flags
from racetrap.rtl.causality.learning import Learning
from racetrap.rtl.causality.marker_phases import MarkerPhases
from racetrap.rtl.causality.meeting_phases import Meeting, MeetingPhases
from racetrap.rtl.causality.race_encoder import RaceEncoder
from racetrap.rtl.common.bits import lowest_set
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.memory import block_memory


class Work:
    """Registers, memories and phases, added to the collector's module.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    m : Module
        Module of the collector.
    gate : MarkerGate
        Where notices and markers come from.
    has_fenced : Value
        Whether a warp has passed a ``fence.sc`` in this launch.

    Attributes
    ----------
    notice, marker : Signal
        What is worked on, with its bank or SM.
    routine : Signal
        A bit of each ``Routine``.
    warp, loop : Signal
        Warp slot of the taker, and those of its SM that are to follow.
    waiting, everybody, others : Signal
        Of a block's or barrier's warps those that go on, those that take part, and those whose
        clocks the taker is still to learn.
    latest : Signal
        Largest clock of all warps.
    """

    def __init__(self, params: CausalityParams, m: Module, gate: Any, has_fenced: Value) -> None:
        self._params, self._has_fenced = params, has_fenced
        self.notice = Signal(gate.o_notice.payload.shape(), name="notice")
        self.marker = Signal(gate.o_marker.payload.shape(), name="marker")
        self.routine = Signal(len(Routine), name="routine")
        self.warp = Signal(params.slot_warp_bits, name="warp")
        self.loop = Signal(params.warps_per_sm, name="loop")
        self.latest = Signal(params.clock_bits, init=1, name="latest")
        self._elaborate_memories(m)
        self._elaborate_phases(m)

    def _elaborate_memories(self, m: Module) -> None:
        params = self._params
        slots = params.sm_count << params.warp_bits
        m.submodules.records = records = block_memory(struct_layout(params.record_layout), slots)
        self.read, self.write = records.read_port(), records.write_port()
        blocks = params.sm_count << params.slot_bits
        m.submodules.blocks = block_warps = block_memory(params.warps_per_sm, blocks)
        self.block_read, self.block_write = block_warps.read_port(), block_warps.write_port()
        m.submodules.clocks = clocks = Memory(
            shape=params.clock_bits, depth=1 << params.warp_bits, init=[]
        )
        self._clock_read, self.clock_write = clocks.read_port(domain="comb"), clocks.write_port()

    def _elaborate_phases(self, m: Module) -> None:
        """Records, and the phases of all routines."""
        params, routine, marker = self._params, self.routine, self.marker.marker
        notice = self.notice.notice
        m.submodules.encoder = encoder = RaceEncoder(params)
        is_reader = routine[Routine.READER]
        side = Signal(encoder.i_side.shape(), name="side")
        writer, reader = notice.before.writer, notice.before.reader
        for name in params.writer_layout.fields:
            has_it = name in params.side_layout.fields
            m.d.comb += side[name].eq(Mux(is_reader, reader[name] if has_it else 0, writer[name]))
        meeting = Meeting(
            notice.packet, notice.before, notice, side, block_of(params, side), side.bytes.any(),
            is_reader, encoder.o_is_own, encoder.o_same_block,
        )  # fmt: skip
        self.learning = learning = Learning(params, meeting.block)
        self.flags = flags = Flags(params, m, learning, routine)
        self.barrier = barrier = self._make_barrier(m)
        barriers = BarrierPhases(params, m, learning, routine)
        meetings = MeetingPhases(params, m, learning, routine)
        markers = MarkerPhases(params, m, learning, routine)
        of_barriers = barriers.phases(marker, barrier, self.warp)
        before = meetings.learning(meeting, self.latest, self._has_fenced)
        of_flags = flags.phases(meeting, marker)
        fired = learning.elaborate(m, [
            *before, *of_flags, *meetings.seeing(meeting, barriers.met),
            *meetings.taking_on(meeting), *markers.operations(marker),
            *markers.block_starts(marker), *of_barriers,
        ])  # fmt: skip
        fired = fired[len(before) : len(before) + len(of_flags)]
        flags.elaborate(list(fired), meeting, encoder.o_race, self.warp)
        is_flag = fired[1] | fired[2]
        m.d.comb += [
            encoder.i_packet.eq(notice.packet), encoder.i_side.eq(side),
            encoder.i_is_reader.eq(is_reader), encoder.i_bank.eq(self.notice.bank),
            encoder.i_against.eq(
                Mux(is_flag, Mux(is_reader, Against.READER, Against.WRITER), notice.against)
            ),
            encoder.i_start.eq(learning.taker.start),
            *(encoder.i_owner[name].eq(learning.giver[name])
              for name in encoder.i_owner.shape().members),
        ]  # fmt: skip

    def _make_barrier(self, m: Module) -> Barrier:
        params, giver, marker = self._params, self.learning.giver, self.marker.marker
        slots, is_gathering = params.warps_per_sm, self.routine[Routine.GATHER]
        top, bar, own, final = (
            Signal(params.clock_bits, name=name) for name in ("top", "met_bar", "met_own", "final")
        )
        self.everybody, others = Signal(slots, name="everybody"), Signal(slots, name="others")
        self.waiting, is_waiting, joins = Signal(slots, name="waiting"), Signal(), Signal()
        warp, other = self.warp[: params.warp_bits], Signal(params.warp_bits)
        clock, others_after = Signal(params.clock_bits), Signal.like(others)
        takes = self.learning.takes_known & self.routine[Routine.SOME]
        m.d.comb += [
            is_waiting.eq(self.waiting.bit_select(warp, 1)),
            joins.eq(
                is_waiting
                | ((marker.kind == TransactionKind.PARTIAL_BARRIER)
                   & giver.arrived.bit_select(marker.number, 1))
            ),
            other.eq(number_of(others)),
            self._clock_read.addr.eq(other),
            clock.eq(Mux(is_gathering, Mux(is_waiting, giver.clock, giver.arrived_clock),
                         self._clock_read.data)),
            self.clock_write.addr.eq(warp), self.clock_write.data.eq(clock),
            others_after.eq(Mux(takes, others & (others - 1), others)),
        ]  # fmt: skip
        m.d.sync += others.eq(others_after)
        self.others = others
        return Barrier(
            joins, is_waiting, clock, top, bar, own, final,
            Cat(other, self.warp[params.warp_bits :]), self.waiting.bit_select(other, 1),
            others_after,
        )  # fmt: skip


def number_of(bits: Value) -> Value:
    """Number of the lowest bit that is set; 0 if none is."""
    width = 1 << (len(bits) - 1).bit_length()
    number = lowest_set(Cat(bits, Const(0, width - len(bits))))
    return number & bits.any().replicate(len(number))
