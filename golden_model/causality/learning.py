"""Learning: the state that the collector keeps for a warp, and how it merges another warp's.

Ref: ScoRD (ISCA'20) Section VI; the order of fences as in the PTX memory model.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from racetrap.golden_model.causality.detector_bank import Step
from racetrap.golden_model.causality.entry import Side
from racetrap.golden_model.causality.knowledge import Knowledge, Known
from racetrap.golden_model.causality.packets import Against, Packet, RaceKind, from_other_block
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.warp_row import WarpRow


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
    """A volatile read that is a race if it is not that of a flag.

    Parameters
    ----------
    race : Race
        The race.
    partner : int
        Warp slot of the GPU of the flag's writer.
    same_block : bool
        Whether both are of one block.
    by_atomic : bool
        Whether an atomic wrote the flag.
    stamp : int
        Clock up to which the flag releases its writer.
    """

    race: Race
    partner: int
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
    flags_read : list of Pending
        Flags that it has read.
    flags_written : list of Race
        Flags that were written over what it has read.
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
        self.flags_written: list[Race] = []
        self.retired = True

    @property
    def tables(self) -> tuple[Knowledge, ...]:
        """All tables."""
        return (
            self.here, self.far, self.through, self.seen_here, self.seen, self.seen_device
        )  # fmt: skip


class Learning:
    """Records of all warps, and what one of them takes in of another.

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

    def warps_of(self, block: int) -> list[int]:
        """Warp slots of the block in a slot."""
        return self._blocks[block]

    def _note(self, clock: int) -> None:
        self._latest = max(self._latest, clock)

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
