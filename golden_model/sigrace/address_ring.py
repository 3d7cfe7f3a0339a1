"""Address ring of a core unit: the exact accesses of its latest blocks.

A signature stands for more addresses than the block has used.  The ring keeps the addresses
themselves, so that two blocks whose signatures conflict can be compared exactly before anything is
executed again.  New accesses replace the oldest ones; a block of which one is gone cannot be read.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

#: Bytes of a word, of which an entry has some; a power of two.
WORD_LOG2 = 3
#: Words remembered so that an access like an earlier one of the block is not kept twice.
RECENT = 64
#: Most entries of a ring.
MAX_RING_DEPTH = 1 << 16


class RingEntry(NamedTuple):
    """Accesses to a word.

    Parameters
    ----------
    word : int
        Number of the word: its byte address without the lowest bits.
    bytes_used : int
        A bit for each byte of the word that they touch.
    is_write : bool
        Whether they write.
    """

    word: int
    bytes_used: int
    is_write: bool


class AddressRing:
    """Keeps the accesses of the latest blocks.

    An access joins the newest entry if that is of the same block, word and kind.  It is left out if
    the block has its bytes already: they were written, or were read and it only reads, by accesses
    that the ring still remembers.  It remembers ``RECENT`` words, each in the place that its
    number's low bits give, where a new word replaces the old one.

    Parameters
    ----------
    depth : int
        Entries that it holds.
    blocks : int
        Blocks that it can tell apart, a power of two.

    Attributes
    ----------
    number : int
        Number of the block that is being collected; the first is 0.
    written : int
        Entries made since the start.
    """

    def __init__(self, depth: int, blocks: int) -> None:
        self.number = 0
        self.written = 0
        self._depth = depth
        self._entries: list[RingEntry] = []
        self._blocks: deque[tuple[int, int]] = deque(maxlen=blocks)  # first entry, and behind last
        self._begin()

    def record(self, address: int, bytes_used: int, is_write: bool) -> None:
        """Add an access to the block.

        Parameters
        ----------
        address : int
            Byte address of a granule.
        bytes_used : int
            A bit for each byte of the granule that the access touches.
        is_write : bool
            Whether it writes.
        """
        word = address >> WORD_LOG2
        used = bytes_used << (address & (1 << WORD_LOG2) - 1)
        known, read, written = self._recent.get(word % RECENT, (word, 0, 0))
        if known != word:
            read = written = 0
        if not used & ~(written if is_write else written | read):
            return
        if is_write:
            written |= used
        else:
            read |= used
        self._recent[word % RECENT] = word, read, written
        self._append(RingEntry(word, used, is_write))

    def end(self) -> None:
        """End the block, which is sent, and begin the next one."""
        self._blocks.append((self._first, self.written))
        self.number += 1
        self._begin()

    def drop(self) -> None:
        """Begin the block again, as at a RESET: its accesses stay, but belong to no block."""
        self._begin()

    def read(self, number: int) -> list[RingEntry] | None:
        """Entries of a block, oldest first; None if some are gone, or the block is not known."""
        age = self.number - 1 - number
        if not 0 <= age < len(self._blocks):
            return None
        first, behind = self._blocks[-1 - age]
        if first < self.written - self._depth:
            return None
        return [self._entries[place % self._depth] for place in range(first, behind)]

    def _append(self, entry: RingEntry) -> None:
        newest = (self.written - 1) % self._depth
        if self.written > self._first:
            known = self._entries[newest]
            if (known.word, known.is_write) == (entry.word, entry.is_write):
                both = known.bytes_used | entry.bytes_used
                self._entries[newest] = known._replace(bytes_used=both)
                return
        if self.written < self._depth:
            self._entries.append(entry)
        else:
            self._entries[self.written % self._depth] = entry
        self.written += 1

    def _begin(self) -> None:
        self._first = self.written
        self._recent: dict[int, tuple[int, int, int]] = {}
