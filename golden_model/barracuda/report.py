"""Reports of races: each racy pair of warp instructions once, with threads and address."""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter

import numpy as np

from racetrap.golden_model.barracuda.kernel import Kernel
from racetrap.golden_model.barracuda.race import Party, Race, RaceClass, RaceKind
from racetrap.golden_model.barracuda.shadow import Pairs
from racetrap.golden_model.events import EventKind, Space, lanes_of

_KINDS = tuple(RaceKind)
_CLASSES = tuple(RaceClass)


def _classes(kernel: Kernel, pairs: Pairs) -> np.ndarray:
    """Number of the class of each pair."""
    warp, other = kernel.warp[pairs.first], kernel.warp[pairs.second]
    same_block = kernel.warp_block[warp] == kernel.warp_block[other]
    return np.where(warp == other, 0, np.where(same_block, 1, 2))


def first_races(kernel: Kernel, pairs: Pairs, kinds: np.ndarray) -> list[Race]:
    """The first race of each key, in the order of the trace.

    Parameters
    ----------
    kernel : Kernel
        Kernel.
    pairs : Pairs
        Racy pairs, in any order.
    kinds : numpy.ndarray
        Number of the kind of each.
    """
    if not len(pairs.first):
        return []
    in_time = np.lexsort((pairs.first, pairs.second))
    pairs, kinds = Pairs(pairs.first[in_time], pairs.second[in_time]), kinds[in_time]
    classes = _classes(kernel, pairs)
    pc, other = kernel.events["pc"][pairs.first], kernel.events["pc"][pairs.second]
    space = kernel.events["space"][pairs.second]
    key = np.stack((np.minimum(pc, other), np.maximum(pc, other), kinds, classes, space))
    _, where, member, instances = np.unique(
        key, axis=1, return_index=True, return_inverse=True, return_counts=True
    )
    block_pairs = _block_pairs(kernel, pairs, member.ravel(), len(where))
    return [
        replace(
            _race(
                kernel, int(pairs.first[each]), int(pairs.second[each]),
                _KINDS[kinds[each]], _CLASSES[classes[each]],
            ),
            instances=int(instances[number]), block_pairs=int(block_pairs[number]),
        )
        for number, each in sorted(enumerate(where.tolist()), key=itemgetter(1))
    ]  # fmt: skip


def _block_pairs(kernel: Kernel, pairs: Pairs, member: np.ndarray, count: int) -> np.ndarray:
    """Number of pairs of blocks in each set of pairs, given the set of each pair."""
    first, second = kernel.block[pairs.first], kernel.block[pairs.second]
    blocks = np.stack((member, np.minimum(first, second), np.maximum(first, second)))
    return np.bincount(np.unique(blocks, axis=1)[0], minlength=count)


def _lanes(kernel: Kernel, row: int) -> list[tuple[int, int, tuple[int, int]]]:
    """Number, address and values of each lane."""
    mask = kernel.mask(row)
    numbers = lanes_of(mask)
    records = kernel.lanes[kernel.lane_slice(row)].tolist()
    return [
        (lane, address, (value, compare))
        for lane, (address, value, compare) in zip(numbers, records, strict=True)
    ]


def _meeting(kernel: Kernel, first: int, second: int) -> tuple[int, int, int]:
    """First lane of each access at a common location, and the later lane's address."""
    sizes = [int(kernel.events["size"][row]) for row in (first, second)]
    for other, address, value in _lanes(kernel, second):
        for lane, earlier, stored in _lanes(kernel, first):
            overlap = address < earlier + sizes[0] and earlier < address + sizes[1]
            if overlap and (first != second or (lane < other and stored != value)):
                return lane, other, address
    raise AssertionError("racy accesses must have a byte in common")


def _race(kernel: Kernel, first: int, second: int, kind: RaceKind, race_class: RaceClass) -> Race:
    lane, other, address = _meeting(kernel, first, second)
    space = Space(kernel.events["space"][second])
    parties = party(kernel, first, lane), party(kernel, second, other)
    return Race(kind, race_class, space, address, *parties, kernel.number)


def party(kernel: Kernel, row: int, lane: int) -> Party:
    """Access of a lane in a report."""
    return Party(
        int(kernel.grid_block[kernel.block[row]]),
        kernel.thread(int(kernel.warp[row]), lane),
        int(kernel.events["pc"][row]),
        EventKind(kernel.kind[row]),
        kernel.begin + row,
        int(kernel.events["size"][row]),
    )
