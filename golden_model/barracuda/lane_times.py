"""Times of the lanes of a warp, in the most compact of three forms.

One number if all lanes have the same time, a ``Split`` if the lanes of a mask have one time and
the others another (a warp that has diverged once), otherwise an array with one for each lane.

Ref: BARRACUDA (PLDI'17) Section 4.3.1 (warp clocks).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from racetrap.golden_model.events import ALL_LANES, WARP_SIZE

_LANES = np.arange(WARP_SIZE, dtype=np.int64)


class Split(NamedTuple):
    """Two times: of the lanes of a mask (some, not all), and of the others."""

    mask: int
    inside: int
    outside: int


Times = int | Split | np.ndarray


def _members(mask: int) -> np.ndarray:
    return mask >> _LANES & 1 != 0


def _array(times: Times) -> np.ndarray:
    if isinstance(times, Split):
        return np.where(_members(times.mask), times.inside, times.outside)
    return np.broadcast_to(times, WARP_SIZE)


def split(mask: int, inside: int, others: int | np.ndarray) -> Times:
    """Times of the lanes: ``inside`` for those of the mask, ``others`` for the rest."""
    if mask == ALL_LANES:
        return inside
    if isinstance(others, int):
        return Split(mask, inside, others)
    return np.where(_members(mask), inside, others)


def of_lane(times: Times, lane: int) -> int:
    """Time of one lane."""
    if isinstance(times, int):
        return times
    if isinstance(times, Split):
        return times.inside if times.mask >> lane & 1 else times.outside
    return int(times[lane])


def adds(times: Times, known: Times) -> bool:
    """Whether some lane's time is later than the one known."""
    if isinstance(times, int):
        if isinstance(known, int):
            return times > known
        if isinstance(known, Split):
            return times > known.inside or times > known.outside
    elif isinstance(times, Split):
        if isinstance(known, int):
            return times.inside > known or times.outside > known
        if isinstance(known, Split) and times.mask == known.mask:
            return times.inside > known.inside or times.outside > known.outside
    return bool((_array(times) > _array(known)).any())


def later(one: Times, other: Times) -> Times:
    """The later time of each lane."""
    if isinstance(one, int):
        if isinstance(other, int):
            return max(one, other)
        one, other = other, one
    if isinstance(one, Split):
        if isinstance(other, int):
            return Split(one.mask, max(one.inside, other), max(one.outside, other))
        if isinstance(other, Split) and one.mask == other.mask:
            inside, outer = max(one.inside, other.inside), max(one.outside, other.outside)
            return Split(one.mask, inside, outer)
    return np.maximum(_array(one), _array(other))


def outside(times: Times, mask: int) -> int | np.ndarray:
    """Times of the lanes outside a mask: one number if they are equal (0 if there are none)."""
    if isinstance(times, int):
        return times
    array = _array(times)
    rest = array[~_members(mask)]
    if not len(rest):
        return 0
    return int(rest[0]) if (rest == rest[0]).all() else array
