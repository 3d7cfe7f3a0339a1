"""Launches of locks, queues and flags, and their results by NumPy.

Each function takes the beginning of the kernels' names and the shape of the launch.
"""

from __future__ import annotations

import numpy as np

from racetrap.golden_model.events import WARP_SIZE
from racetrap.sim.gpu.suites.weak_memory.launch_tables import (
    LaunchTables,
    buffer,
    result,
    scattered,
)

#: Critical sections of a warp, or of a block.
_ROUNDS = 2


def _counts(sections: int) -> np.ndarray:
    """Counter of the critical sections, and the sum of its values."""
    counter = np.arange(1, sections + 1)
    return np.array([sections, counter.sum()])


def ticket_lock(kernel: str, blocks: int, threads: int) -> LaunchTables:
    """Critical sections of all warps."""
    counts = _counts(_ROUNDS * blocks * threads // WARP_SIZE)
    arguments = [result(counts), buffer("zeros", 1), buffer("zeros", 1)]
    return {"kernel": kernel, "grid": blocks, "block": threads, "arguments": arguments}


def mcs_lock(kernel: str, blocks: int, threads: int) -> LaunchTables:
    """The same, with a node for each warp and none."""
    warps = blocks * threads // WARP_SIZE
    arguments = [
        result(_counts(_ROUNDS * warps)), buffer("zeros", 1), buffer("zeros", warps + 1),
        buffer("zeros", warps + 1),
    ]  # fmt: skip
    return {"kernel": kernel, "grid": blocks, "block": threads, "arguments": arguments}


#: Constants of ``lamport_queue.cu``.
_SLOTS, _ITEMS = 2, 6


def lamport_queue(kernel: str, blocks: int, threads: int) -> LaunchTables:
    """Items that the consumer of each pair of blocks has taken."""
    pairs = -(-blocks // 2)
    items = np.tile(np.arange(1, _ITEMS + 1), pairs)
    arguments = [
        result(items), buffer("zeros", pairs * _SLOTS), buffer("zeros", pairs),
        buffer("zeros", pairs),
    ]  # fmt: skip
    return {"kernel": kernel, "grid": 2 * pairs, "block": threads, "arguments": arguments}


def publication(kernel: str, blocks: int, threads: int) -> LaunchTables:
    """The page, and a copy of it for each block but the first."""
    page = scattered(np.arange(threads))
    arguments = [result(page), result(np.tile(page, blocks - 1)), buffer("zeros", 1)]
    return {"kernel": kernel, "grid": blocks, "block": threads, "arguments": arguments}


#: Words of the table in ``double_checked.cu``.
_TABLE_WORDS = 4


def double_checked(kernel: str, blocks: int, threads: int) -> LaunchTables:
    """Sum of the table, by each warp."""
    table = scattered(np.arange(_TABLE_WORDS))
    sums = np.full(blocks * threads // WARP_SIZE, table.sum(dtype=np.uint32))
    arguments = [result(sums), result(table), buffer("zeros", 1), buffer("zeros", 1)]
    return {"kernel": kernel, "grid": blocks, "block": threads, "arguments": arguments}


def dekker(kernel: str, blocks: int, threads: int) -> LaunchTables:
    """Critical sections of each pair of blocks."""
    pairs = -(-blocks // 2)
    arguments = [
        result(np.tile(_counts(2 * _ROUNDS), pairs)), buffer("zeros", 2 * pairs),
        buffer("zeros", pairs),
    ]  # fmt: skip
    return {"kernel": kernel, "grid": 2 * pairs, "block": threads, "arguments": arguments}


#: Constants of ``seqlock.cu``.
_RECORD_WORDS, _CHANGES, _READINGS = 3, 3, 2


def seqlock(kernel: str, blocks: int, threads: int) -> LaunchTables:
    """Readings that are whole, of each block but the first, and the last record."""
    arguments = [
        result(np.full(blocks - 1, _READINGS)), result(np.full(_RECORD_WORDS, _CHANGES)),
        result(np.array(2 * _CHANGES)),
    ]  # fmt: skip
    return {"kernel": kernel, "grid": blocks, "block": threads, "arguments": arguments}


#: Values of a thread in ``histogram.cu``.
_VALUES = 4


def histogram(kernel: str, blocks: int, threads: int) -> LaunchTables:
    """Bins of each block once it has merged those of others."""
    values = scattered(np.arange(blocks * threads * _VALUES)).reshape(blocks, -1)
    own = [np.bincount((each >> 16) % threads, minlength=threads) for each in values]
    distance = 1
    while distance < blocks:
        for block in range(0, blocks - distance, 2 * distance):
            own[block] = own[block] + own[block + distance]
        distance *= 2
    arguments = [result(np.array(own)), buffer("zeros", blocks)]
    return {"kernel": kernel, "grid": blocks, "block": threads, "arguments": arguments}


#: Constant of ``shared_queue.cu``.
_SHARED_ITEMS = 4


def shared_queue(kernel: str, blocks: int, threads: int) -> LaunchTables:
    """Items that the consumer of each block has taken; a block always has two warps."""
    del threads
    count = blocks * _SHARED_ITEMS
    arguments = [buffer("arange", count), result(np.arange(1, count + 1))]
    return {"kernel": kernel, "grid": blocks, "block": 2 * WARP_SIZE, "arguments": arguments}
