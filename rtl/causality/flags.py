"""Flags and reports: races that the collector decides, at once or when an access is no flag.

Ref: ScoRD (ISCA'20) Section IV-C; volatile accesses as in the PTX memory model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data

from racetrap.golden_model.causality.packets import Against, FenceOrder, PacketKind, Undecided
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.collector_phases import Routine
from racetrap.rtl.causality.learning import Learning, Phase
from racetrap.rtl.causality.meeting_phases import Meeting
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.memory import block_memory


class Flags:
    """Undecided accesses of all warps in memory, and the register of reports.

    A warp slot has one flag that it has read and one written over what it has read; what finds its
    place taken is taken for a flag.

    Attributes
    ----------
    address : Signal
        Place that is read at the next ``reads``: whether of a flag written, then the warp slot.
    reads, loads, clears : Signal
        Read that place, take what was read in the cycle before, and empty the place ``cleared``.
    looks : Signal
        The place is of flags that were written over what the access's warp has read: empty it if
        the access reads a message of that word, or may.
    fires : Signal
        A race may be found in this cycle.
    reports, race : Signal
        A race is found, for the register of reports.
    is_full : Signal
        An undecided access finds its place taken.
    """

    def __init__(self, params: CausalityParams, m: Module, learning: Learning, routine: Value):
        self._params, self._m, self._learning, self._routine = params, m, learning, routine
        self._flag = struct_layout(params.flag_layout)
        bits = params.slot_warp_bits + 1
        self.address, self.cleared = Signal(bits, name="flag_address"), Signal(bits)
        self.reads, self.loads, self.clears = (
            Signal(name=f"flag_{name}") for name in ("reads", "loads", "clears")
        )
        self.looks = Signal(name="looks_for_flag")
        self.fires, self.reports, self.is_full, self.is_late = (
            Signal(name=name) for name in ("fires", "reports", "is_full", "is_late")
        )
        self.race = Signal(struct_layout(params.race_layout), name="race")
        memory = block_memory(self._flag, params.sm_count << params.warp_bits + 1)
        m.submodules.flags = memory
        self._write, read = memory.write_port(), memory.read_port()
        m.d.comb += [read.en.eq(self.reads), read.addr.eq(self.address)]
        self._kept = Signal(self._flag, name="kept", reset_less=True)
        with m.If(self.loads):
            m.d.sync += self._kept.eq(read.data)

    def _during(self, *routines: Routine) -> Value:
        return Cat(self._routine[each] for each in routines).any()

    def _is_direct(self, know: data.View, warp: Value, stamp: Value) -> Value:
        """Whether a warp is known up to a clock by a message of its own."""
        places = [know[f"known_{place}"] for place in range(self._params.known)]
        found = [
            place.direct & ~place.is_block & (place.warp == warp) & (place.clock >= stamp)
            for place in places
        ]
        return Cat(found).any() & (stamp != 0)

    def phases(self, meeting: Meeting, marker: Any) -> list[Phase]:
        """Phases in which a race or a flag may be found; ``elaborate`` needs them in this order."""
        notice, packet, side, kept = meeting.notice, meeting.packet, meeting.side, self._kept
        writer, reader = (
            self._during(each) & meeting.exists for each in (Routine.WRITER, Routine.READER)
        )
        undecided, near = notice.undecided, meeting.same_block
        is_taken_in = packet.acquire & (near | side.atomic | packet.device)
        acquires = (marker.order != FenceOrder.RELEASE) & (kept.same_block | marker.device)
        acquires = acquires & kept.valid

        def is_any(*kinds: Undecided) -> Value:
            return Cat(undecided == kind for kind in kinds).any()

        unequal = self._during(Routine.WRITER) & packet.unequal & (notice.against == 0)
        late = self._is_direct(self._learning.taker.know, kept.partner, kept.stamp)
        self._is_late_read = late & ~kept.by_atomic
        return [
            Phase(
                unequal | (writer & notice.against[0])
                | (reader & (notice.against == Against.READER))
            ),
            Phase(writer & is_any(Undecided.READ) & ~is_taken_in),
            Phase(
                (writer & is_any(Undecided.WRITE_AFTER_WRITER, Undecided.WRITE_AFTER_BOTH))
                | (reader & is_any(Undecided.WRITE_AFTER_READER, Undecided.WRITE_AFTER_BOTH))
            ),
            Phase(self._during(Routine.FENCE) & acquires),
            Phase(self._during(Routine.END) & acquires),
            Phase(self._during(Routine.END_READ) & kept.valid),
            Phase(self._during(Routine.END_WRITTEN), [self._learning.taker.retired.eq(1)]),
        ]  # fmt: skip

    def elaborate(self, fired: Sequence[Value], meeting: Meeting, race: Value, warp: Value) -> None:
        """Add what the phases do; ``fired`` are pulses of each."""
        m, kept, learning = self._m, self._kept, self._learning
        found, reads, writes, fence, end, ends_read, ends_written = fired
        packet, side = meeting.packet, meeting.side
        giver, near = learning.giver, meeting.same_block
        flag, is_race = Signal(self._flag), Signal()
        last = Mux(near, giver.release, giver.release_device)
        m.d.comb += [
            flag.valid.eq(1),
            flag.race.eq(race),
            flag.partner.eq(side.warp),
            flag.by_atomic.eq(side.atomic),
            flag.same_block.eq(near | side.atomic),
            flag.stamp.eq(least(side.clock - ~side.operation, last)),
            is_race.eq(giver.retired | (side.clock < giver.start)),
        ]
        is_found = (
            self.looks & kept.valid & packet.strong & (packet.kind != PacketKind.STORE)
            & (meeting.before.message.any() | meeting.notice.unknown)
            & (kept.race.word == packet.word) & (kept.race.shared == packet.shared)
        )  # fmt: skip
        keeps = reads | (writes & ~is_race)
        ends = fence | end | ends_read | (ends_written & kept.valid)
        late = ends_read | (fence & self._is_late_read) | (ends_written & kept.valid)
        m.d.comb += [
            self.is_full.eq(keeps & kept.valid),
            self.fires.eq(Cat(fired).any()),
            self.is_late.eq(~found),
            self.reports.eq(found | (writes & is_race) | late),
            self.race.eq(Mux(late, kept.race, race)),
            self._write.en.eq((keeps & ~kept.valid) | is_found | ends | self.clears),
            self._write.data.eq(Mux(keeps, flag, Const(0, self._flag.size))),
        ]
        with m.If(self.clears):
            m.d.comb += self._write.addr.eq(self.cleared)
        with m.Elif(keeps):
            m.d.comb += self._write.addr.eq(Cat(~reads, Mux(reads, packet.warp, side.warp)))
        with m.Else():
            m.d.comb += self._write.addr.eq(Cat(is_found | ends_written, warp))


def least(one: Value, other: Value) -> Value:
    """The smaller of two clocks."""
    return Mux(one < other, one, other)[: len(other)]
