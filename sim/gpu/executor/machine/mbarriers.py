"""mbarrier objects: 64 bits in shared memory, and what instructions make of them.

An object counts the arrivals and the bytes that its phase still waits for.  The phase completes
when both are none; the next one then waits for as many arrivals as the object was made for.

Ref: PTX ISA 9.0, Section 9.7.13.15 (mbarrier).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racetrap.golden_model.events import WARP_SIZE
from racetrap.sim.gpu.executor.machine.lanes import mask_of, row_of

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.access import Load
    from racetrap.sim.gpu.executor.machine.warp import Warp


#: Bits of a count of arrivals, and of one of bytes, which may go below 0 for a while.
_COUNT_BITS, _BYTES_BITS = 20, 22
_COUNTS, _BYTES = (1 << _COUNT_BITS) - 1, (1 << _BYTES_BITS) - 1
_PHASE = 2 * _COUNT_BITS + _BYTES_BITS


class _Object(NamedTuple):
    """Fields of an object: arrivals to come, those of each phase, bytes to come and parity."""

    pending: int
    expected: int
    bytes: int
    phase: int

    @classmethod
    def of(cls, word: int) -> _Object:
        """Fields of the 64 bits."""
        return cls(
            word & _COUNTS, word >> _COUNT_BITS & _COUNTS, word >> 2 * _COUNT_BITS & _BYTES,
            word >> _PHASE & 1,
        )  # fmt: skip

    def word(self) -> int:
        """The 64 bits, in the next phase if this one is complete."""
        pending, expected, rest, phase = self
        if not pending and not rest:
            pending, phase = expected, phase ^ 1
        return (
            pending & _COUNTS | (expected & _COUNTS) << _COUNT_BITS
            | (rest & _BYTES) << 2 * _COUNT_BITS | phase << _PHASE
        )  # fmt: skip


def _initial(old: int, count: int) -> int:
    return _Object(count, count, 0, 0).word()


def _arrive(old: int, count: int) -> int:
    now = _Object.of(old)
    return now._replace(pending=now.pending - count).word()


def _arrive_drop(old: int, count: int) -> int:
    now = _Object.of(old)
    return now._replace(pending=now.pending - count, expected=now.expected - count).word()


def _expect(old: int, count: int) -> int:
    now = _Object.of(old)
    return now._replace(bytes=now.bytes + count & _BYTES).word()


def _arrive_expect(old: int, count: int) -> int:
    now = _Object.of(old)
    return now._replace(pending=now.pending - 1, bytes=now.bytes + count & _BYTES).word()


def _complete(old: int, count: int) -> int:
    return _expect(old, -count)


#: By what an instruction does: from the object and a number to the object afterwards.
MBARRIER_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "mbarrier.init": _initial, "mbarrier.inval": lambda old, count: 0,
    "mbarrier.arrive": _arrive, "mbarrier.arrive_drop": _arrive_drop,
    "mbarrier.expect_tx": _expect, "mbarrier.complete_tx": _complete,
    "mbarrier.arrive.expect_tx": _arrive_expect,
}  # fmt: skip


def pending_count(tokens: np.ndarray) -> np.ndarray:
    """Arrivals to come in the states that arrivals have returned."""
    return (tokens & np.uint64(_COUNTS)).astype(np.uint32)


class MbarrierWait:
    """``mbarrier.test_wait`` and ``try_wait``: they acquire in the lanes whose phase is complete.

    Parameters
    ----------
    acquire, relaxed : Load
        Loads of the object, for those lanes and for the others.
    acquires : bool
        Whether the instruction acquires at all.
    """

    def __init__(self, acquire: Load, relaxed: Load, acquires: bool):
        self._acquire, self._relaxed, self._acquires = acquire, relaxed, acquires

    def __call__(
        self, warp: Warp, mask: int, base: np.ndarray, parity: np.ndarray,
        fence: Callable[[int], object],
    ) -> np.ndarray:  # fmt: skip
        """Whether the phase of a parity is complete, by lane."""
        words = np.zeros(WARP_SIZE, np.uint64)
        if warp.launch.weak is not None:
            # What a lane reads, and so what it waits for, is up to the memory model.
            self._acquire(warp, mask, base, words)
            fence(mask)
            return (words >> np.uint64(_PHASE) & np.uint64(1)) != parity
        load = self._acquire
        views, place = load.space(load, warp, mask, load.addresses(mask, base))
        words[row_of(mask)] = views[load.dtype][place >> load.shift]
        complete = (words >> np.uint64(_PHASE) & np.uint64(1)) != parity
        passing = mask_of(complete) & mask
        if passing:
            self._acquire(warp, passing, base, words)
            if self._acquires:
                fence(passing)
        if mask & ~passing:
            self._relaxed(warp, mask & ~passing, base, words)
        return complete


def parity_of(tokens: np.ndarray) -> np.ndarray:
    """Parity of the phase in which an arrival has returned a state."""
    return tokens >> np.uint64(_PHASE) & np.uint64(1)
