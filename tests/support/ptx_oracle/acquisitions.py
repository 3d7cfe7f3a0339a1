"""Patterns of a warp's lanes that are still open: fences and operations that later writes release,
and what reads have observed that later fences and operations acquire.

Ref: PTX ISA 9.0, Section 8.8 (Release and Acquire Patterns).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from racetrap.golden_model.barracuda.compressed import NOTHING, Knowledge, join_all
from racetrap.golden_model.barracuda.fences import Fence
from tests.support.ptx_oracle.messages import IN_BLOCK, ON_DEVICE, Released, Team

#: Program counters of a write and of the read that observes it.
_Pair = tuple[int, int]
_Location = tuple[int, int]


class _Observed(NamedTuple):
    """What a pair has released, and whether one of its accesses is volatile; and what the read
    would have observed, by pair, had it come before the write."""

    released: Released
    is_volatile: bool
    overlooked: dict[_Pair, Released]


class _Acquired(NamedTuple):
    """What a pair makes known, or would have, and whether one of its accesses is volatile."""

    pair: _Pair
    known: Knowledge
    is_volatile: bool
    overlooked: list[_Acquired]


class OpenPatterns:
    """Open patterns of one warp.

    Parameters
    ----------
    team : Team
        Of the warp.
    synchronised : set of (int, int)
        Receives the program counters of the write and the read of each pair of patterns that
        synchronises.
    """

    def __init__(self, team: Team, synchronised: set[_Pair]) -> None:
        self._team, self._synchronised = team, synchronised
        #: By lane and reach its last release fence of that reach or more.
        self.fences: dict[tuple[int, int], Fence] = {}
        #: By lane and location what its release operations there have released.
        self._operations: dict[tuple[int, _Location], Released] = {}
        #: By lane what it has observed, by pair and location.
        self._observed: defaultdict[int, dict[tuple[_Pair, _Location], _Observed]]
        self._observed = defaultdict(dict)

    def release_fence(self, lanes: Iterable[int], fence: Fence, reach: int) -> None:
        """A release fence of some lanes."""
        self.fences |= {(lane, each): fence for lane in lanes for each in range(reach + 1)}

    def release_operation(self, lane: int, location: _Location, fence: Fence, reach: int) -> None:
        """A release operation of a lane."""
        released = self._operations.setdefault((lane, location), Released())
        released.release(self._team, fence, reach)

    def released_by(self, lane: int, location: _Location, released: Released) -> None:
        """Add what a strong write of a lane releases."""
        for reach in range(IN_BLOCK, ON_DEVICE + 1):
            if (fence := self.fences.get((lane, reach))) is not None:
                released.release(self._team, fence, reach)
        if (operations := self._operations.get((lane, location))) is not None:
            released.add(operations)

    def observe(
        self, lane: int, location: _Location, pair: _Pair, released: Released, is_volatile: bool
    ) -> None:
        """A strong read of a lane observes what was released; one of both may be volatile."""
        if released.parts:
            new = _Observed(Released(), is_volatile, {})
            self._observed[lane].setdefault((pair, location), new).released.add(released)

    def overlook(
        self, lane: int, location: _Location, pair: _Pair, other: _Pair, released: Released
    ) -> None:
        """A read that observes a volatile store overlooks one that this has overwritten."""
        if (observed := self._observed[lane].get((pair, location))) is not None:
            observed.overlooked.setdefault(other, Released()).add(released)

    def acquire(
        self, lane: int, reach: int, past: Callable[[], Knowledge],
        location: _Location | None = None,
    ) -> list[Knowledge]:  # fmt: skip
        """What a lane, whose past is known, acquires at a fence or, with ``location``, at an
        operation there."""
        found = []
        for (pair, where), observed in self._observed.get(lane, {}).items():
            if location not in (None, where):
                continue
            known = observed.released.to(self._team, reach)
            overlooked = [
                _Acquired(other, released.to(self._team, reach), True, [])
                for other, released in observed.overlooked.items()
            ]
            if known is not NOTHING:
                found.append(_Acquired(pair, known, observed.is_volatile, overlooked))
        self._synchronise(found, past)
        if location is None and reach == ON_DEVICE and lane in self._observed:
            self._observed[lane].clear()
        return [each.known for each in found]

    def _synchronise(self, found: list[_Acquired], past: Callable[[], Knowledge]) -> None:
        """Take note of the pairs by which patterns synchronise.

        Volatile data between fences is in such patterns by chance.  A pair with a volatile access
        counts if it makes known what neither the past nor other pairs do, and no pair more.  With
        it counts a store that was overwritten before the read, if it would have counted: another
        schedule has the read in between.
        """
        self._synchronised.update(each.pair for each in found if not each.is_volatile)
        volatile = [each for each in found if each.is_volatile]
        pairs = {every.pair for each in volatile for every in (each, *each.overlooked)}
        if pairs <= self._synchronised:
            return
        others = (each.known for each in found if not each.is_volatile)
        base = join_all((past(), *others))
        for each in volatile:
            if _counts(base, each, volatile):
                self._synchronised.add(each.pair)
                instead = [other for other in volatile if other.pair[0] != each.pair[0]]
                counting = (other for other in each.overlooked if _counts(base, other, instead))
                self._synchronised.update(other.pair for other in counting)


def _counts(base: Knowledge, one: _Acquired, others: list[_Acquired]) -> bool:
    """Whether one makes known what is new, and no other more."""
    is_new = base.join(one.known) is not base
    return is_new and not any(_tells_more(base, other, one) for other in others)


def _tells_more(base: Knowledge, one: _Acquired, other: _Acquired) -> bool:
    """Whether one makes known all that the other does, and more."""
    by_one, by_other = base.join(one.known), base.join(other.known)
    return by_one.join(other.known) is by_one and by_other.join(one.known) is not by_other
