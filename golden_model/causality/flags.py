"""Flags: races that the collector decides, at once or when a volatile access is not a flag.

Ref: ScoRD (ISCA'20) Section VI; the order of fences as in the PTX memory model.
"""

from __future__ import annotations

from typing import Any

from racetrap.golden_model.causality.detection_logic import missing
from racetrap.golden_model.causality.detector_bank import Step
from racetrap.golden_model.causality.learning import Learning, Pending, Race
from racetrap.golden_model.causality.packets import Against, Packet, Undecided

#: What is undecided of a write over the writer, and over the reader.
_WRITTEN = {
    Against.WRITER: (Undecided.WRITE_AFTER_WRITER, Undecided.WRITE_AFTER_BOTH),
    Against.READER: (Undecided.WRITE_AFTER_READER, Undecided.WRITE_AFTER_BOTH),
}


class Flags(Learning):
    """Races, and volatile accesses that are undecided."""

    def _meet_flags(self, step: Step, against: Against) -> list[Race]:
        """A volatile access may be that of a flag, with the writer or the reader before it."""
        undecided = Undecided(step.undecided)
        if against == Against.WRITER and undecided == Undecided.READ:
            self._read_flag(step)
        elif undecided in _WRITTEN[against]:
            return self._write_flag(step, against)
        return []

    def _read_flag(self, step: Step) -> None:
        packet, writer = step.packet, step.before.writer
        assert writer is not None
        same_block = self.rows[packet.warp].in_block(writer, packet.block)
        if packet.acquire and (same_block or writer.atomic or packet.device):
            return
        pending = Pending(
            self._found(step, Against.WRITER), writer.warp,
            same_block or bool(writer.atomic), bool(writer.atomic), self._stamp(writer, same_block),
        )  # fmt: skip
        self._keep(self.carried[packet.warp].flags_read, pending)

    def _write_flag(self, step: Step, against: Against) -> list[Race]:
        """A write over what another warp has read: that warp may read the flag yet."""
        side = step.before.writer if against == Against.WRITER else step.before.reader
        assert side is not None
        other = self.carried[side.warp]
        if other.retired or side.clock < self.rows[side.warp].start:
            return [self._race(step, against)]
        self._keep(other.flags_written, self._found(step, against))
        return []

    def _keep(self, places: list[Any], undecided: Pending | Race) -> None:
        if len(places) < self._params.undecided:
            places.append(undecided)
        else:
            self._counts["pending_full"] += 1

    def _find_flag(self, packet: Packet) -> None:
        """A read that finds a message, or may: what was written over an earlier read is a flag."""
        carried = self.carried[packet.warp]
        carried.flags_written = [
            race for race in carried.flags_written
            if (race.step.packet.shared, race.step.packet.word) != (packet.shared, packet.word)
        ]  # fmt: skip

    def _decide_reads(self, warp: int, device: int) -> list[Race]:
        """At an acquire a flag's read is one, unless its writer was known before by itself."""
        races, kept = [], []
        carried = self.carried[warp]
        for read in carried.flags_read:
            if not (read.same_block or device):
                kept.append(read)
            elif not read.by_atomic and 0 < read.stamp <= self.rows[warp].know.direct(read.partner):
                races.append(self._report(read.race))
        carried.flags_read = kept
        return races

    def _race(self, step: Step, against: Against, late: int = 1) -> Race:
        return self._report(self._found(step, against, late))

    def _found(self, step: Step, against: Against, late: int = 1) -> Race:
        """A race as it is when the later access is made, even if it is reported later."""
        side = step.before.reader if against == Against.READER else step.before.writer
        assert side is not None
        packet = step.packet
        kind = missing(packet, self.rows[packet.warp], side, self.rows[side.warp])
        return Race(step, kind, against, late)

    def _report(self, race: Race) -> Race:
        self._counts[f"races_{race.kind.name.lower()}"] += 1
        return race
