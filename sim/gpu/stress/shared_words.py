"""Words of memory that threads share, from sequentially consistent runs: what can be written later
in a launch by another thread, so that a load of it can be late before anyone has written it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest

import numpy as np

from racetrap.golden_model.barracuda.kernel import Kernel, kernels_of
from racetrap.golden_model.events import WARP_SIZE, EventKind, Space
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.executor.machine.weak_memory import BLOCK_STRIDE, WORD_BITS


def shared_words(traces: Iterable[Trace], lanes: bool) -> list[frozenset[int]]:
    """Words of each launch that one thread writes and another accesses in one of some runs.

    Parameters
    ----------
    traces : iterable of Trace
        The runs.
    lanes : bool
        Whether each lane is a thread, not each warp.
    """
    runs = [[_shared_words(kernel, lanes) for kernel in kernels_of(trace)] for trace in traces]
    return [frozenset().union(*each) for each in zip_longest(*runs, fillvalue=frozenset())]


def _shared_words(kernel: Kernel, lanes: bool) -> frozenset[int]:
    rows = kernel.accesses
    events = kernel.events[rows]
    each, lane = np.nonzero(events["mask"][:, np.newaxis] >> np.arange(WARP_SIZE, dtype="u4") & 1)
    # An event's records are those of its lanes, in their order.
    first = events["first_lane"].astype(np.int64) - kernel.first_lane
    number = np.arange(len(each)) - np.searchsorted(each, np.arange(len(rows)))[each]
    address = kernel.lanes["address"][first[each] + number].astype(np.int64)
    block = kernel.grid_block[kernel.cluster[kernel.block[rows]]]
    address += np.where(events["space"] == Space.SHARED, (block + 1) * BLOCK_STRIDE, 0)[each]
    thread = kernel.warp[rows].astype(np.int64)[each]
    if lanes:
        thread = thread * WARP_SIZE + lane
    writes = (events["kind"] != EventKind.LOAD)[each]
    last = (address + events["size"][each] - 1) >> WORD_BITS
    word = address >> WORD_BITS
    found = []
    # A lane accesses 16 bytes at most.
    for _ in range(4):
        found.append(np.stack((word, thread, writes), axis=1)[word <= last])
        word = word + 1
    return _of_several(np.unique(np.concatenate(found), axis=0))


def _of_several(accesses: np.ndarray) -> frozenset[int]:
    """Words of several threads' accesses (word, thread, whether it writes), sorted, of which one
    writes."""
    words, begins = np.unique(accesses[:, 0], return_index=True)
    if not len(words):
        return frozenset()
    written = np.maximum.reduceat(accesses[:, 2], begins) > 0
    threads = np.maximum.reduceat(accesses[:, 1], begins) > np.minimum.reduceat(
        accesses[:, 1], begins
    )
    return frozenset(words[written & threads].tolist())
