"""Row of a warp: the state that a bank needs to check the warp's accesses.

Ref: ScoRD (ISCA'20) Section VI (lists of warps that have synchronised; threads of a warp).
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from typing import NamedTuple

from racetrap.golden_model.causality.entry import Side
from racetrap.golden_model.causality.knowledge import Knowledge
from racetrap.golden_model.causality.packets import PacketKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.events import ALL_LANES


class Level(NamedTuple):
    """A branch: the lanes that run, those that do not, and the clock when it began."""

    active: int
    waiting: int
    clock: int


class Record(NamedTuple):
    """Warp barriers of some lanes: those that have met, by tiles of so many lanes (0: all of
    them), and the clock behind the last."""

    lanes: int
    clock: int
    tile: int


class WarpRow:
    """What is ordered before a warp's next access; clocks of 0 stand for nothing.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    counts : Counter
        Counts what did not fit.

    Attributes
    ----------
    start : int
        First clock of the warp's block: smaller ones are of blocks before it in the slot.
    bar : int
        Accesses of its block up to this clock are ordered by barriers.
    own : int
        Accesses of older blocks of the warp's slot up to this clock are ordered.
    lanes_before : int
        Accesses of its own other lanes below this clock are ordered.
    release, release_device : int
        Clock of its last release, and of that to the device.
    know : Knowledge
        What is ordered besides.
    levels : list of Level
        Nested branches, the outermost first; as many as are kept.
    depth : int
        Branches, kept or not.
    records : list of Record
        Warp barriers of some of its lanes.
    """

    def __init__(self, params: CausalityParams, counts: Counter[str]) -> None:
        self._params = params
        self.know = Knowledge(params, params.known, counts)
        self.start = self.lanes_before = 1
        self.bar = self.own = self.release = self.release_device = 0
        self.levels: list[Level] = []
        self.depth = 0
        self.records: list[Record] = []

    def copy(self) -> WarpRow:
        """A row that later changes of this one do not reach."""
        other = copy(self)
        other.know, other.levels = self.know.copy(), list(self.levels)
        return other

    def is_own(self, side: Side, warp: int) -> bool:
        """Whether an access was made by this warp, numbered ``warp``, and not by an older block."""
        return side.warp == warp and side.clock >= self.start

    def is_same_lane(self, side: Side, warp: int, lanes: int) -> bool:
        """Whether an access was made by this warp, and by the one lane that ``lanes`` is."""
        return self.is_own(side, warp) and lanes == 1 << side.lane and not side.several

    def in_block(self, side: Side, block: int) -> bool:
        """Whether an access was made by the warp's block, in slot ``block``."""
        return side.block == block and side.clock >= self.start

    def unordered(self, side: Side, warp: int, block: int, lanes: int) -> int:
        """Those of some lanes of the warp that an access does certainly not come before."""
        if side.warp == warp:
            if side.clock >= self.start:
                return self._unordered_lanes(side, warp, block, lanes)
            if side.clock <= self.own:
                return 0
        elif self.in_block(side, block) and side.clock <= self.bar:
            return 0
        return 0 if self.know.has(side.warp, side.block, side.clock) else lanes

    def _unordered_lanes(self, side: Side, warp: int, block: int, lanes: int) -> int:
        others = lanes & ~(1 << side.lane)
        if side.several or side.clock <= self.bar or side.clock < self.lanes_before:
            return 0
        if self.know.has(warp, block, side.clock):
            return 0
        if self._params.independent_threads:
            for record in self.records:
                if side.clock < record.clock and record.lanes >> side.lane & 1:
                    others &= ~(record.lanes & tile_of(side.lane, record.tile))
            return others
        for level in self.levels:
            if not level.active >> side.lane & 1:
                return 0 if side.clock < level.clock else others
        return 0

    def change(self, kind: PacketKind, lanes: int, clock: int) -> None:
        """What a branch or warp barrier makes of the row; ``clock`` is the warp's behind it."""
        if kind == PacketKind.IF:
            self.begin_branch(lanes, clock)
        elif kind == PacketKind.ELSE:
            self.swap_branch()
        elif kind == PacketKind.FI:
            self.end_branch()
        else:
            self.warp_barrier(lanes, clock)

    # Branches ---------------------------------------------------------------------------

    def begin_branch(self, lanes: int, clock: int) -> None:
        """Some of the active lanes go first."""
        if self.depth == len(self.levels) < self._params.levels:
            active = self.levels[-1].active if self.levels else ALL_LANES
            self.levels.append(Level(active & lanes, active & ~lanes, clock))
        self.depth += 1

    def swap_branch(self) -> None:
        """The others go."""
        if self.depth == len(self.levels) > 0:
            active, waiting, clock = self.levels[-1]
            self.levels[-1] = Level(waiting, active, clock)

    def end_branch(self) -> None:
        """All of them reconverge."""
        if self.depth == len(self.levels) > 0:
            self.levels.pop()
        self.depth = max(self.depth - 1, 0)

    # Warp barriers ----------------------------------------------------------------------

    def warp_barrier(self, lanes: int, clock: int) -> None:
        """Lanes meet; ``clock`` is the warp's behind the barrier.  In lockstep nothing changes."""
        if not self._params.independent_threads:
            return
        if lanes == ALL_LANES:
            self.lanes_before, self.records = clock, []
            return
        tile = _tile(lanes)
        kept: list[Record] = []
        joined = False
        for record in self.records:
            if tile and record.tile == tile:
                kept.append(Record(record.lanes | lanes, clock, tile))
                joined = True
            elif record.lanes & lanes and not record.tile >= tile > 0:
                # Lanes that meet now learn what others of them have learnt in that record.
                kept.append(Record(record.lanes | lanes, record.clock, 0))
            else:
                kept.append(record)
        if not joined:
            kept.append(Record(lanes, clock, tile))
        while len(kept) > self._params.records:
            self.lanes_before = max(self.lanes_before, kept.pop(0).clock)
        self.records = kept


def _tile(lanes: int) -> int:
    """Size of the aligned group of a power of two lanes that a mask is; 0 if it is none."""
    return lanes.bit_count() if is_tile(lanes) else 0


def is_tile(lanes: int) -> bool:
    """Whether a mask is an aligned group of a power of two lanes."""
    size, low = lanes.bit_count(), (lanes & -lanes).bit_length() - 1
    return size & size - 1 == 0 and low % size == 0 and lanes == (1 << size) - 1 << low


def tile_of(lane: int, size: int) -> int:
    """Lanes of the tile of so many that a lane is in; all lanes if there are no tiles."""
    return (1 << size) - 1 << lane // size * size if size else ALL_LANES
