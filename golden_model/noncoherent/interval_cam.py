"""Interval CAM: a set of bytes in a few entries, which may cover more than was inserted, not less.

Entries neither overlap nor touch, and one is always free.  When the last one is taken, the two with
the smallest gap are merged, and the result is marked imprecise.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from racetrap.golden_model.noncoherent.packets import MISS, Hit
from racetrap.golden_model.noncoherent.params import NoncoherentParams

_DIGEST_BITS = 32
#: All bits of a digest.
DIGEST_MASK = (1 << _DIGEST_BITS) - 1
#: Bits by which a part of a digest is rotated for each part before it.
DIGEST_TURN = 7


def turned(digest: int, count: int) -> int:
    """A digest with its bits rotated to the left."""
    count %= _DIGEST_BITS
    return (digest << count | digest >> (_DIGEST_BITS - count)) & DIGEST_MASK


def folded(word: int, turn: int) -> int:
    """Digest of a word: its parts, each rotated by ``turn`` and by its number."""
    digest = 0
    while word:
        digest ^= turned(word & DIGEST_MASK, turn)
        word >>= _DIGEST_BITS
        turn += DIGEST_TURN
    return digest


class Entry(NamedTuple):
    """Bytes from ``first`` up to the one before ``end``.

    Parameters
    ----------
    first, end : int
        The range.
    tag : int
        The latest operation that inserted some of it.
    others : int
        Whether other operations inserted some of it, too.
    imprecise : int
        Whether it may have bytes that no operation inserted.
    """

    first: int
    end: int
    tag: int
    others: int = 0
    imprecise: int = 0


class IntervalCam:
    """A set of bytes.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.

    Attributes
    ----------
    slots : list of Entry or None
        Entries; None for free slots.
    digest : int
        32 bits that depend on every bit of the entries, and on their slots.
    events : Counter of str
        How often an entry was inserted beside all others (``insert``), merged with others
        (``merge``) or put over others (``cover``), lost bytes (``shrink``), was split (``split``)
        or removed (``drop``), or two of a full set were merged (``compact``).
    """

    def __init__(self, params: NoncoherentParams) -> None:
        self._layout = params.entry_layout
        self.slots: list[Entry | None] = [None] * params.entries
        self.digest = 0
        self.events: Counter[str] = Counter()

    def overlapping(self, first: int, end: int) -> list[int]:
        """Numbers of the entries that have some of the bytes."""
        return [
            slot
            for slot, entry in enumerate(self.slots)
            if entry is not None and entry.first < end and entry.end > first
        ]

    def look_up(self, first: int, end: int) -> Hit:
        """The first precise entry that has some of the bytes, else the first imprecise one."""
        found = [entry for slot in self.overlapping(first, end) if (entry := self.slots[slot])]
        if not found:
            return MISS
        entry = min(found, key=lambda one: one.imprecise)
        return Hit(1, 1 - entry.imprecise, entry.others, entry.tag)

    def insert(self, added: Entry) -> None:
        """Insert bytes; entries that they overlap or touch are merged with them.

        The entry is imprecise if one of them is that has bytes besides these.
        """
        first, end, tag, others, imprecise = added
        free, found = self.slots.index(None), set()
        for slot, entry in enumerate(self.slots):
            if entry is None or entry.first > added.end or entry.end < added.first:
                continue
            self._put(slot, None)
            if entry.first < added.first or entry.end > added.end:
                first, end = min(first, entry.first), max(end, entry.end)
                others |= entry.others | (entry.tag != tag)
                imprecise |= entry.imprecise
                found.add("merge")
            else:
                found.add("cover")
        self.events.update(found or {"insert"})
        self._put(free, Entry(first, end, tag, others, imprecise))
        self._compact()

    def remove(self, first: int, end: int) -> None:
        """Remove bytes; an entry with bytes on both sides is split."""
        free = self.slots.index(None)
        for slot in self.overlapping(first, end):
            entry = self.slots[slot]
            assert entry is not None
            left = entry._replace(end=first) if entry.first < first else None
            right = entry._replace(first=end) if entry.end > end else None
            self._put(slot, left or right)
            if left and right:
                self._put(free, right)
            self.events["split" if left and right else "shrink" if left or right else "drop"] += 1
        self._compact()

    def clear(self) -> None:
        """Empty the set."""
        for slot in range(len(self.slots)):
            self._put(slot, None)

    def _compact(self) -> None:
        """Free an entry if none is free: merge the first of the pairs with the smallest gap."""
        entries = [entry for entry in self.slots if entry is not None]
        if len(entries) < len(self.slots):
            return
        _, low, high = min(
            (after.first - before.end, low, high)
            for low, before in enumerate(entries)
            for high, after in enumerate(entries)
            if after.first >= before.end
        )
        before, after = entries[low], entries[high]
        others = before.others | after.others | (before.tag != after.tag)
        self._put(low, Entry(before.first, after.end, before.tag, others, 1))
        self._put(high, None)
        self.events["compact"] += 1

    def _put(self, slot: int, entry: Entry | None) -> None:
        self.digest ^= self._fold(slot, self.slots[slot]) ^ self._fold(slot, entry)
        self.slots[slot] = entry

    def _fold(self, slot: int, entry: Entry | None) -> int:
        """Contribution of an entry to the digest."""
        if entry is None:
            return 0
        return folded(1 << self._layout.width | self._layout.pack(entry._asdict()), slot)
