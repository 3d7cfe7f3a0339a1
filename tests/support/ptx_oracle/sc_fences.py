"""Forced Fence-SC order: which ``fence.sc`` precede one in every execution that has the run's
values and its order of morally strong writes.

Two fences, morally strong relative to each other, are so ordered if the first precedes, in
causality order, an access *a*, the second comes behind an access *b*, and *a* precedes *b* in
communication order: were the fences the other way round, causality would contradict it.  What
precedes *b* that way is *communicated* to it; knowledge holds a second time of each warp for it.

Ref: PTX ISA 9.0, Sections 8.9.3 (Fence-SC Order), 8.9.7 (Communication Order) and 8.10 (Axioms).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.barracuda.compressed import (
    NOTHING,
    Clock,
    Knowledge,
    Place,
    join_all,
)
from racetrap.golden_model.barracuda.fences import Fence
from racetrap.golden_model.barracuda.simt import Warp
from tests.support.ptx_oracle.cells import Cell
from tests.support.ptx_oracle.messages import Message, Team


class _ScFence(NamedTuple):
    """A ``fence.sc`` of some lanes of a warp."""

    row: int
    warp: int
    team: Team
    lanes: tuple[int, ...]
    reach: int
    fence: Fence


class Preceding(NamedTuple):
    """What precedes a write in communication order.

    Parameters
    ----------
    writes : Knowledge
        What the write communicates, with those that precede it in coherence order.
    reads : Knowledge
        What the reads communicate that return what is older.
    """

    writes: Knowledge
    reads: Knowledge


class ScFences:
    """The ``fence.sc`` of a kernel so far.

    Parameters
    ----------
    warps : int
        Warps of the kernel: knowledge has as many times again of what is communicated.
    """

    def __init__(self, warps: int) -> None:
        self._warps = warps
        self._fences: list[_ScFence] = []

    def add(self, row: int, warp: Warp, team: Team, lanes: tuple[int, ...], reach: int) -> None:
        """Order a fence behind those that are forced to precede it, and take it in."""
        place = warp.place
        # The latest first: what it makes known is communicated from fences before it alone.
        for each in reversed(self._fences):
            is_morally_strong = min(each.reach, reach) >= each.team.distance(team)
            if is_morally_strong and self._is_communicated(each, warp.clock.far):
                warp.acquire(each.fence.known)
        fence = Fence(warp.clock, place, row)
        self._fences.append(_ScFence(row, place.warp, team, lanes, reach, fence))

    def _is_communicated(self, fence: _ScFence, known: Knowledge) -> bool:
        number = self._warps + fence.warp
        return any(known.time_of(number, lane) >= fence.row for lane in fence.lanes)

    def past(self, clock: Clock, place: Place, row: int) -> Knowledge:
        """What precedes an access in causality order, as what it communicates to others."""
        if not self._fences:
            return NOTHING
        known = clock.publish(place, row)
        warps = np.zeros_like(known.warps)
        warps[self._warps :] = known.warps[: self._warps]
        lanes = {self._warps + warp: times for warp, times in known.lanes.items()
                 if warp < self._warps}  # fmt: skip
        return Knowledge(warps, lanes)


def read(cells: list[Cell], observed: Message | None, past: Knowledge) -> Knowledge:
    """What is communicated to a read: by the writes that it takes its value from, and by all that
    precedes the one that it observes."""
    found = [cell.message.past for cell in cells if cell.message is not None]
    if observed is not None:
        found += [observed.preceding, *(cell.overtaken for cell in cells)]
    for cell in cells:
        cell.readers = cell.readers.join(past)
    return join_all(found)


def write(cells: list[Cell], past: Knowledge, is_behind: Callable[[Message], bool]) -> Preceding:
    """What comes before a write, and is communicated to it.

    Parameters
    ----------
    cells : list of Cell
        Where it writes.
    past : Knowledge
        What it communicates to others.
    is_behind : callable
        Whether it comes behind the last write in coherence order.  If not, the two race, and of
        what is older only reads of the initial value are known to precede.
    """
    writes = past
    for cell in cells:
        last = cell.message
        if last is None:
            cell.overtaken = cell.first_readers = cell.readers
        elif is_behind(last):
            cell.overtaken = cell.overtaken.join(cell.readers)
            writes = writes.join(last.preceding)
        else:
            cell.overtaken = cell.first_readers
        cell.readers = NOTHING
    return Preceding(writes, join_all(cell.overtaken for cell in cells))
