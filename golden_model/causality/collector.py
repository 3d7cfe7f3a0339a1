"""Collector: what warps have learnt from each other, and have not yet acquired.

It takes the meetings that banks find, in their order, and settles markers: fences, barriers,
operations that release or acquire, begin and end of blocks.  Rows of warps are its result.

Ref: ScoRD (ISCA'20) Section VI; the order of fences as in the PTX memory model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from racetrap.golden_model.causality.detection_logic import missing
from racetrap.golden_model.causality.detector_bank import Step
from racetrap.golden_model.causality.entry import Side
from racetrap.golden_model.causality.knowledge import Knowledge, Known
from racetrap.golden_model.causality.packets import (
    Against,
    Fenced,
    FenceOrder,
    Marker,
    Packet,
    RaceKind,
    Undecided,
    from_other_block,
)
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.warp_row import WarpRow

#: What is undecided of a write over the writer, and over the reader.
_WRITTEN = {
    Against.WRITER: (Undecided.WRITE_AFTER_WRITER, Undecided.WRITE_AFTER_BOTH),
    Against.READER: (Undecided.WRITE_AFTER_READER, Undecided.WRITE_AFTER_BOTH),
}


class Race(NamedTuple):
    """A race that the collector reports.

    Parameters
    ----------
    step : Step
        Step of the later access.
    kind : RaceKind
        What is missing.
    against : Against
        The earlier access, or both.
    late : int
        Whether it was decided after the access, when it could no longer be a flag's.
    """

    step: Step
    kind: RaceKind
    against: Against
    late: int


class Pending(NamedTuple):
    """A volatile access that is a race if it is no flag.

    Parameters
    ----------
    race : Race
        The race.
    partner : int
        Warp slot of the GPU of the other warp: the writer of a flag.
    block : int
        Its block slot.
    same_block : bool
        Whether both are of one block.
    by_atomic : bool
        Whether an atomic wrote the flag.
    stamp : int
        Clock up to which the flag releases its writer.
    """

    race: Race
    partner: int
    block: int
    same_block: bool
    by_atomic: bool
    stamp: int


class Carried:
    """What the collector holds of a warp besides its row.

    Attributes
    ----------
    here, far : Knowledge
        Messages of its own block, and of others, that no acquire has taken in.
    through : Knowledge
        Releases to other blocks than its own that pass through it; ``through_blocks`` has their
        bits.
    seen_here, seen, seen_device : Knowledge
        Accesses before a ``fence.sc`` of warps that it has met: of its own block; of the blocks
        in ``seen_blocks``; before one of the device.
    fence, fence_device : int
        Clock of its last ``fence.sc``, and of that of the device.
    sc : int
        Which ``fence.sc`` come before its accesses, by the bits of ``Fenced``.
    ever : int
        The same of all blocks of the slot together.
    clock : int
        Its clock at its last marker.
    arrived, arrived_clock : int
        Barriers at which it has arrived without waiting, one bit each, and its clock at the last.
    flags_read, flags_written : list of Pending
        Flags that it has read, and those written over what it has read.
    retired : bool
        Whether its block has ended.
    """

    def __init__(self, params: CausalityParams, counts: Counter[str]) -> None:
        self.here = Knowledge(params, params.pending, counts)
        self.far = Knowledge(params, params.pending, counts)
        self.through = Knowledge(params, 0, counts)
        self.seen_here = Knowledge(params, params.seen, counts)
        self.seen = Knowledge(params, params.seen, counts)
        self.seen_device = Knowledge(params, params.seen, counts)
        self.through_blocks = self.seen_blocks = 0
        self.fence = self.fence_device = 0
        self.sc = self.ever = 0
        self.clock = 1
        self.block = 0
        self.arrived = self.arrived_clock = 0
        self.flags_read: list[Pending] = []
        self.flags_written: list[Pending] = []
        self.retired = True

    @property
    def tables(self) -> tuple[Knowledge, ...]:
        """All tables."""
        return (
            self.here, self.far, self.through, self.seen_here, self.seen, self.seen_device
        )  # fmt: skip


class Collector:
    """Keeps the rows of all warps.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Attributes
    ----------
    rows : list of WarpRow
        By warp slot of the GPU.
    carried : list of Carried
        The rest, likewise.
    """

    def __init__(self, params: CausalityParams) -> None:
        self._params = params
        self._counts: Counter[str] = Counter()
        count = params.sm_count << params.warp_bits
        self.rows = [WarpRow(params, self._counts) for _ in range(count)]
        self.carried = [Carried(params, self._counts) for _ in range(count)]
        self.clear()

    def clear(self) -> None:
        """Know nothing, as at kernel launch; counters stay."""
        params = self._params
        for warp in range(len(self.rows)):
            WarpRow.__init__(self.rows[warp], params, self._counts)
            Carried.__init__(self.carried[warp], params, self._counts)
        self._blocks: dict[int, list[int]] = {}
        self._latest = 1
        self._has_fenced = False

    @property
    def latest(self) -> int:
        """Largest clock of a warp."""
        return self._latest

    def has_fenced(self) -> bool:
        """Whether any warp has passed a ``fence.sc`` in this launch."""
        return self._has_fenced

    @property
    def counters(self) -> dict[str, int]:
        """Counters by name since construction."""
        return dict(self._counts)

    # Learning ---------------------------------------------------------------------------

    def _stamp(self, side: Side, same_block: bool) -> int:
        """Clock up to which a message releases its writer."""
        row = self.rows[side.warp]
        last = row.release if same_block else row.release_device
        return min(side.clock - (not side.operation), last)

    def _learn(
        self, table: Knowledge, side: Side, stamp: int, packet: Packet, direct: bool = False
    ) -> None:
        """Add another warp up to a clock, and all that it knows or carries now."""
        row, carried = self.rows[side.warp], self.carried[side.warp]
        table.put(Known(side.warp, side.block, stamp, direct))
        is_far = not self.rows[packet.warp].in_block(side, packet.block)
        if is_far:
            table.put(Known(~side.block, side.block, row.bar))
        table.fenced |= from_other_block(carried.ever) if is_far else carried.ever
        for other in (row.know, carried.here, carried.far):
            table.join(other, of_other_block=is_far)
        self._pass_through(carried, self.carried[packet.warp])

    def _pass_through(self, giver: Carried, taker: Carried) -> None:
        """Releases to other blocks that pass through a warp reach whoever meets its message."""
        if not giver.through_blocks:
            return
        if giver.through_blocks & self._params.hash_of(taker.block):
            taker.here.join(giver.through, of_other_block=True)
        taker.through.join(giver.through, of_other_block=True)
        taker.through_blocks |= giver.through_blocks

    def _pass_seen(self, giver: Carried, taker: Carried, same_block: bool) -> None:
        """What a warp has seen, whoever meets it sees as well."""
        is_far = not same_block
        taker.seen.join(giver.seen, of_other_block=is_far)
        taker.seen_blocks |= giver.seen_blocks
        taker.seen_device.join(giver.seen_device, of_other_block=is_far)
        if same_block:
            taker.seen_here.join(giver.seen_here)
        elif giver.seen_here:
            taker.seen.join(giver.seen_here, of_other_block=True)
            taker.seen_blocks |= self._params.hash_of(giver.block)
        if giver.seen_blocks & self._params.hash_of(taker.block):
            taker.seen_here.join(giver.seen, of_other_block=is_far)

    def _take_in(self, warp: int, device: int) -> None:
        """Acquire: what is pending is known from now on."""
        row, carried = self.rows[warp], self.carried[warp]
        row.know.join(carried.here, keep_direct=True)
        carried.here.clear()
        if device:
            row.know.join(carried.far, keep_direct=True)
            carried.far.clear()
        self._settle(warp)

    def _settle(self, warp: int) -> None:
        """Draw what a row's knowledge says of its own slot, and advance the warp's clock."""
        row, carried = self.rows[warp], self.carried[warp]
        carried.sc |= row.know.fenced
        carried.ever |= carried.sc
        own = row.know.pop(warp, row.start)
        if own:
            row.lanes_before = max(row.lanes_before, own + 1)
            row.own = max(row.own, row.start - 1)
            # What has come back to the warp goes on with its messages, whatever it released itself.
            row.release = max(row.release, own)
            row.release_device = max(row.release_device, own)
        carried.clock = max(carried.clock, row.know.latest + 1)

    # Meetings ---------------------------------------------------------------------------

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

    # Flags ------------------------------------------------------------------------------

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
            self._found(step, Against.WRITER), writer.warp, writer.block,
            same_block or bool(writer.atomic), bool(writer.atomic), self._stamp(writer, same_block),
        )  # fmt: skip
        self._keep(self.carried[packet.warp].flags_read, pending)

    def _write_flag(self, step: Step, against: Against) -> list[Race]:
        """A volatile write over what another warp has read."""
        packet = step.packet
        side = step.before.writer if against == Against.WRITER else step.before.reader
        assert side is not None
        row, other = self.rows[side.warp], self.carried[side.warp]
        same_block = self.rows[packet.warp].in_block(side, packet.block)
        own = self.rows[packet.warp]
        stamp = min(packet.clock - 1, own.release if same_block else own.release_device)
        if other.retired or side.clock < row.start or 0 < stamp <= row.know.direct(packet.warp):
            return [self._race(step, against)]
        self._keep(
            other.flags_written,
            Pending(
                self._found(step, against), packet.warp, packet.block, same_block, False, stamp
            ),
        )
        return []

    def _keep(self, places: list[Pending], pending: Pending) -> None:
        if len(places) < self._params.undecided:
            places.append(pending)
        else:
            self._counts["pending_full"] += 1

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

    # Markers ----------------------------------------------------------------------------

    def fence(self, marker: Marker) -> list[Race]:
        """A fence: what is pending is taken in, and what follows may be a message."""
        races = []
        order, device = FenceOrder(marker.order), marker.device
        row, carried = self.rows[marker.warp], self.carried[marker.warp]
        carried.clock = marker.clock
        if order.acquires:
            races = self._decide_reads(marker.warp, device)
            self._take_in(marker.warp, device)
            if order == FenceOrder.SC:
                if device:
                    row.know.join(carried.seen_device)
                row.know.join(carried.seen_here)
                self._settle(marker.warp)
        if order.releases:
            self._release(marker.warp, device)
            carried.clock += 1
        if order == FenceOrder.SC:
            carried.fence = carried.clock - 1
            if device:
                carried.fence_device = carried.clock - 1
            carried.sc |= Fenced.BLOCK | (Fenced.DEVICE if device else 0)
            carried.ever |= carried.sc
            self._has_fenced = True
        self._note(carried.clock)
        return races

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

    def _release(self, warp: int, device: int) -> None:
        row, carried = self.rows[warp], self.carried[warp]
        row.release = carried.clock
        if device:
            row.release_device = carried.clock

    def begin_release(self, marker: Marker) -> None:
        """The begin of a release operation: its accesses have a clock of their own."""
        carried = self.carried[marker.warp]
        carried.clock = marker.clock + 1
        self._release(marker.warp, marker.device)
        self._note(carried.clock)

    def end_operation(self, marker: Marker) -> None:
        """The end of an operation that releases or acquires."""
        order, carried = FenceOrder(marker.order), self.carried[marker.warp]
        carried.clock = marker.clock + order.releases
        if order.acquires:
            carried.flags_read = [
                read for read in carried.flags_read if not (read.same_block or marker.device)
            ]
            self._take_in(marker.warp, marker.device)
        self._note(carried.clock)

    def warps_of(self, block: int) -> list[int]:
        """Warp slots of the block in a slot."""
        return self._blocks[block]

    def start_block(self, block: int, warps: Sequence[int], start: int) -> None:
        """A block takes its slots; what they knew goes on in what their messages lead to."""
        for warp in warps:
            row, carried = self.rows[warp], self.carried[warp]
            for table in (row.know, carried.here):
                carried.far.join(table, of_other_block=True)
            carried.here.clear()
            row.know.clear()
            if row.bar:
                carried.far.put(Known(~carried.block, carried.block, row.bar))
            seen = Knowledge(self._params, self._params.seen, self._counts)
            if carried.seen_here:
                carried.seen.join(carried.seen_here)
                carried.seen_blocks |= self._params.hash_of(carried.block)
            if carried.seen_blocks & self._params.hash_of(block):
                seen.join(carried.seen)
            carried.seen_here = seen
            carried.block, carried.retired, carried.arrived = block, False, 0
            carried.sc = 0
            carried.flags_read, carried.flags_written = [], []
            row.bar = row.own = 0
            row.levels, row.depth, row.records = [], 0, []
            row.start = row.lanes_before = carried.clock = start
        self._blocks[block] = list(warps)
        self._note(start)

    def end_block(self, block: int) -> list[Race]:
        """A block's undecided accesses are decided."""
        races = []
        for warp in self._blocks.get(block, ()):
            carried = self.carried[warp]
            races += [self._report(read.race) for read in carried.flags_read]
            races += [
                self._report(written.race)
                for written in carried.flags_written
                if not self._may_know(warp, written)
            ]
            carried.flags_read, carried.flags_written = [], []
            carried.retired = True
        return races

    def _may_know(self, warp: int, written: Pending) -> bool:
        row, carried = self.rows[warp], self.carried[warp]
        if written.same_block and written.stamp <= row.bar:
            return True
        return any(
            table.has(written.partner, written.block, written.stamp)
            for table in (row.know, carried.here, carried.far)
        )

    def arrive(self, marker: Marker) -> None:
        """A warp arrives at a barrier without waiting."""
        carried = self.carried[marker.warp]
        carried.arrived |= 1 << marker.number
        carried.arrived_clock = marker.clock
        carried.clock = marker.clock + 1
        self._note(carried.clock)

    def barrier(self, block: int) -> None:
        """All warps of a block pass a barrier."""
        warps = self._blocks[block]
        self._whole_barrier(block, {warp: self.carried[warp].clock for warp in warps})

    def partial_barrier(self, marker: Marker) -> None:
        """Some warps of a block pass a barrier, at which others have arrived."""
        block, waiting = self._blocks[marker.block], []
        clocks: dict[int, int] = {}
        for place, warp in enumerate(block):
            carried = self.carried[warp]
            if marker.warps >> place & 1:
                waiting.append(warp)
                clocks[warp] = carried.clock
            elif carried.arrived >> marker.number & 1:
                clocks[warp] = carried.arrived_clock
            carried.arrived &= ~(1 << marker.number)
        if len(waiting) == len(block):
            self._whole_barrier(marker.block, clocks)
        elif waiting:
            self._some_warps(marker.block, waiting, clocks)

    def _whole_barrier(self, block: int, clocks: Mapping[int, int]) -> None:
        know, together = self._together(block, clocks)
        own, top = max(self.rows[warp].own for warp in clocks), max(clocks.values())
        clock = 1 + max(top, know.latest)
        for warp in clocks:
            row, carried = self.rows[warp], self.carried[warp]
            for table in (row.know, carried.here, carried.far):
                table.clear()
            self._join_together(warp, know, together)
            carried.through.join(together.through)
            carried.through_blocks |= together.through_blocks
            row.bar, row.own, row.records = top, own, []
            self._settle(warp)
            carried.clock = row.lanes_before = clock
        self._note(clock)

    def _together(self, block: int, warps: Iterable[int]) -> tuple[Knowledge, Carried]:
        """What any of some warps of a block knows, and what any of them carries."""
        know = Knowledge(self._params, self._params.known, self._counts)
        together = Carried(self._params, self._counts)
        together.block = block
        for warp in warps:
            carried = self.carried[warp]
            know.fenced |= carried.sc
            know.join(self.rows[warp].know)
            together.here.join(carried.here)
            together.far.join(carried.far)
            together.through.join(carried.through)
            together.through_blocks |= carried.through_blocks
            self._pass_seen(carried, together, same_block=True)
        return know, together

    def _join_together(self, warp: int, know: Knowledge, together: Carried) -> None:
        carried = self.carried[warp]
        self.rows[warp].know.join(know)
        carried.here.join(together.here)
        carried.far.join(together.far)
        self._pass_seen(together, carried, same_block=True)

    def _some_warps(self, block: int, waiting: Sequence[int], clocks: Mapping[int, int]) -> None:
        know, together = self._together(block, clocks)
        bar, top = max(self.rows[warp].bar for warp in clocks), max(clocks.values())
        for warp in waiting:
            row, carried = self.rows[warp], self.carried[warp]
            self._join_together(warp, know, together)
            self._pass_through(together, carried)
            for other, clock in clocks.items():
                if other != warp:
                    # The clock of one that has arrived alone may be that of a later arrival.
                    row.know.put(Known(other, block, clock, direct=other in waiting))
            row.bar = max(row.bar, bar)
            self._settle(warp)
            carried.clock = max(carried.clock, top + 1)
            row.lanes_before, row.records = carried.clock, []
            self._note(carried.clock)

    def advance(self, marker: Marker) -> int:
        """A branch or a warp barrier: the warp's clock advances."""
        carried = self.carried[marker.warp]
        carried.clock = marker.clock + 1
        self._note(carried.clock)
        return carried.clock

    def _note(self, clock: int) -> None:
        self._latest = max(self._latest, clock)

    def begin_epoch(self) -> None:
        """Take all accesses so far as ordered."""
        self._counts["clock_wraps"] += 1
        for row, carried in zip(self.rows, self.carried, strict=True):
            for table in (row.know, *carried.tables):
                table.clear()
            carried.through_blocks = carried.seen_blocks = 0
            carried.flags_read, carried.flags_written = [], []
            carried.fence = carried.fence_device = carried.arrived_clock = 0
            carried.clock = row.start = 1
            row.lanes_before = row.bar = row.own = row.release = row.release_device = 0
            row.records = []
            row.levels = [level._replace(clock=0) for level in row.levels]
        self._latest = 1
