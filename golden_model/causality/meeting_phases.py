"""Meetings: what a warp learns at an access from the writer and the reader that the entry names.

Ref: ScoRD (ISCA'20) Section VI; the order of fences as in the PTX memory model.
"""

from __future__ import annotations

from racetrap.golden_model.causality.detector_bank import Step
from racetrap.golden_model.causality.entry import Side
from racetrap.golden_model.causality.flags import Flags
from racetrap.golden_model.causality.knowledge import Known
from racetrap.golden_model.causality.learning import Race
from racetrap.golden_model.causality.packets import Against, Fenced, Packet, RaceKind


class MeetingPhases(Flags):
    """Steps of banks."""

    def meet(self, step: Step) -> list[Race]:
        """Take a bank's step; races that it decides.

        All that concerns the writer comes before all that concerns the reader.
        """
        packet, before = step.packet, step.before
        writer, reader = before.writer, before.reader
        if not step.monitored:
            return []
        if step.unknown:
            self._meet_unknown(packet)
        if packet.writes and packet.lanes.bit_count() > 1:
            self._meet_own_lanes(packet)
        races = []
        if packet.unequal and not step.against:
            self._counts["races_unequal_store"] += 1
            races.append(Race(step, RaceKind.UNEQUAL_STORE, Against.NONE, 0))
        if packet.reads and packet.strong and (before.message or step.unknown):
            self._find_flag(packet)
        if writer:
            if before.message and packet.reads and packet.strong:
                self._meet_message(step, packet, writer)
            if step.against & Against.WRITER:
                races.append(self._race(step, Against(step.against), late=0))
            races += self._meet_flags(step, Against.WRITER)
            self._see(writer, packet)
            if step.took_on:
                self._take_on(writer, packet)
        if reader:
            if step.against == Against.READER:
                races.append(self._race(step, Against.READER, late=0))
            races += self._meet_flags(step, Against.READER)
            self._see(reader, packet)
        return races

    def _meet_own_lanes(self, packet: Packet) -> None:
        """Lanes that write one word at once meet each other, in an order that is not known."""
        carried = self.carried[packet.warp]
        if packet.is_atomic and packet.released:
            stamp = packet.clock - (not packet.release)
            carried.here.put(Known(packet.warp, packet.block, stamp))
        if packet.sc:
            stamp = min(packet.clock - 1, carried.fence)
            carried.seen_here.put(Known(packet.warp, packet.block, stamp))

    def _meet_message(self, step: Step, packet: Packet, writer: Side) -> None:
        row, carried = self.rows[packet.warp], self.carried[packet.warp]
        is_own = row.is_own(writer, packet.warp)
        if not is_own:
            self._pass_through(self.carried[writer.warp], carried)
        if not step.met:
            return
        same_block = row.in_block(writer, packet.block)
        table = carried.here if same_block else carried.far
        stamp = self._stamp(writer, same_block)
        if is_own:
            table.put(Known(packet.warp, packet.block, writer.clock - (not writer.operation)))
        else:
            direct = not self._params.independent_threads
            self._learn(table, writer, stamp, packet, direct)

    def _take_on(self, writer: Side, packet: Packet) -> None:
        """The message that was there goes on in the packet's."""
        row, carried = self.rows[packet.warp], self.carried[packet.warp]
        if row.is_own(writer, packet.warp):
            return
        same_block = row.in_block(writer, packet.block)
        if same_block:
            if writer.released:
                self._learn(carried.here, writer, self._stamp(writer, True), packet)
            return
        if writer.released_device:
            self._learn(carried.far, writer, self._stamp(writer, False), packet)
        if writer.released:
            self._learn(carried.through, writer, self._stamp(writer, True), packet)
            carried.through_blocks |= self._params.hash_of(writer.block)

    def _see(self, side: Side, packet: Packet) -> None:
        row, carried, other = (
            self.rows[packet.warp], self.carried[packet.warp], self.carried[side.warp]
        )  # fmt: skip
        is_own = row.is_own(side, packet.warp)
        if row.is_same_lane(side, packet.warp, packet.lanes):
            return
        same_block = row.in_block(side, packet.block)
        stamp = min(side.clock - 1, other.fence)
        if side.sc & Fenced.BLOCK:
            if is_own:
                carried.seen_here.put(Known(packet.warp, packet.block, stamp))
            elif same_block:
                self._learn(carried.seen_here, side, stamp, packet)
            else:
                self._learn(carried.seen, side, stamp, packet)
                carried.seen_blocks |= self._params.hash_of(side.block)
        if side.sc & Fenced.OTHERS and not same_block:
            # They may be of the packet's own block, or of any that it passes them on to.
            self._learn(carried.seen_here, side, stamp, packet)
            self._learn(carried.seen, side, stamp, packet)
            carried.seen_blocks = (1 << self._params.hash_bits) - 1
        if side.sc & Fenced.DEVICE and not is_own:
            stamp = min(side.clock - 1, other.fence_device)
            self._learn(carried.seen_device, side, stamp, packet)
        if not is_own:
            self._pass_seen(other, carried, same_block)

    def _meet_unknown(self, packet: Packet) -> None:
        """A message that led here may have been displaced: it may be of anybody.

        Before the first ``fence.sc`` nobody has seen one, so that nothing is seen here, either.
        """
        carried, every = self.carried[packet.warp], (1 << self._params.hash_bits) - 1
        if packet.strong and packet.reads:
            for table in (carried.here, carried.far, carried.through):
                table.know_all(self._latest, self._has_fenced)
            carried.through_blocks = every
        if self._has_fenced:
            for table in (carried.seen_here, carried.seen, carried.seen_device):
                table.know_all(self._latest, self._has_fenced)
            carried.seen_blocks = every
