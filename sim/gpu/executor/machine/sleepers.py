"""Sleepers: warps that poll words which nobody changes, each until one of them is written.

A warp sleeps once it has gone round a loop without a change of its registers or of memory, as it
would go round again.  It is woken by whatever writes a word that it has read on the way.

Ref: PTX ISA 9.0, Section 8 (memory consistency): what a load returns changes by a write alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.warp import Warp
    from racetrap.sim.gpu.executor.machine.warp_schedulers import WarpScheduler


_WORD_BITS = 2
#: Shared memory of block n begins at (n + 1) times this.
_BLOCK_STRIDE = 1 << 40
#: Words are looked up by their low bits first.
_HASHES = 1 << 14
#: Accesses of a loop that polls.
_MOST_READS = 64


class Read(NamedTuple):
    """What an access has read.

    Parameters
    ----------
    memory, places : numpy.ndarray
        Memory as elements of a type, and the places in it.
    values : numpy.ndarray
        What was there.
    words : list of int
        Words, distinguished from those of other memories.
    """

    memory: np.ndarray
    places: np.ndarray
    values: np.ndarray
    words: list[int]


def _words(block: int, addresses: np.ndarray, size: int) -> list[int]:
    """Words of accesses to a block's shared memory, or (-1) to global memory."""
    start = (block + 1) * _BLOCK_STRIDE
    return [
        start + address + offset >> _WORD_BITS
        for address in addresses.tolist() for offset in range(0, size, 1 << _WORD_BITS)
    ]  # fmt: skip


class Polls:
    """What a warp has done since it last let others go first."""

    def __init__(self) -> None:
        #: Whether it has changed what registers do not show.
        self.changed = True
        #: What it has read, if that is of account.
        self.reads: list[Read] | None = None
        #: What it polls, when it sleeps.
        self.words: set[int] = set()
        self._state: object = None

    def read(
        self, memory: np.ndarray, index: np.ndarray, block: int, addresses: np.ndarray, size: int
    ) -> None:
        """The warp has read a block's shared memory, or (-1) global memory."""
        reads = self.reads
        assert reads is not None
        if self.changed or len(reads) == _MOST_READS:
            self.reads = None
            return
        words = _words(block, addresses, size)
        width = size // memory.itemsize
        for element in range(width):
            cells = index + element
            reads.append(Read(memory, cells, memory[cells], words if not element else []))

    def goes_round(self, state: Sequence[object]) -> bool:
        """The warp begins its loop again in a state; whether it has done so before, and would do
        so again and again."""
        changed, reads, before = self.changed, self.reads, self._state
        self.changed, self.reads, self._state = False, None, None
        if changed:
            return False
        self.reads, self._state = [], state
        if reads is None or state != before:
            return False
        if any((read.memory[read.places] != read.values).any() for read in reads):
            return False
        self.words = {word for read in reads for word in read.words}
        return True


class Sleepers:
    """The warps of a launch that sleep.

    Parameters
    ----------
    schedule : WarpScheduler
        Takes those that wake.
    """

    def __init__(self, schedule: WarpScheduler) -> None:
        self._schedule = schedule
        self._warps: dict[int, dict[Warp, None]] = {}
        self._words: dict[Warp, Iterable[int]] = {}
        self._counts = np.zeros(_HASHES, np.int32)

    def __len__(self) -> int:
        return len(self._words)

    def __contains__(self, warp: Warp) -> bool:
        return warp in self._words

    def add(self, warp: Warp) -> None:
        """A warp sleeps until a word that it polls is written."""
        words = self._words[warp] = warp.polls.words
        for word in words:
            self._warps.setdefault(word, {})[warp] = None
            self._counts[word % _HASHES] += 1

    def wake(self, warp: Warp) -> None:
        """A warp goes on, if it sleeps."""
        if warp not in self._words:
            return
        for word in self._words.pop(warp):
            self._counts[word % _HASHES] -= 1
            del self._warps[word][warp]
            if not self._warps[word]:
                del self._warps[word]
        self._schedule.add(warp)

    def wake_all(self) -> None:
        """All go on."""
        for warp in list(self._words):
            self.wake(warp)

    def written(self, block: int, addresses: np.ndarray, size: int) -> None:
        """A block's shared memory, or (-1) global memory, is written."""
        first = addresses >> _WORD_BITS
        last = first if size <= 1 << _WORD_BITS else addresses + size - 1 >> _WORD_BITS
        if not self._counts[first % _HASHES].any() and (
            last is first or not self._counts[last % _HASHES].any()
        ) and size <= 2 << _WORD_BITS:  # fmt: skip
            return
        for word in _words(block, addresses, size):
            for warp in list(self._warps.get(word, ())):
                self.wake(warp)
