"""Bitmap: a set of granules, with a bit for each in a window of memory and one for the rest.

A word has the bits of some neighbouring granules and one common origin, like an entry of an
interval CAM.  Outside the window granules are not distinguished: once one is inserted there, every
range outside matches, imprecisely, until the set is cleared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from racetrap.golden_model.noncoherent.interval_cam import DIGEST_MASK, Entry, folded
from racetrap.golden_model.noncoherent.packets import MISS, Hit
from racetrap.golden_model.noncoherent.params import WORD_GRANULES, NoncoherentParams


class Word(NamedTuple):
    """Bits of neighbouring granules.

    Parameters
    ----------
    dirty : int
        A bit a granule, the first one lowest.
    tag : int
        The latest operation that inserted some of them.
    others : int
        Whether other operations inserted some of them, too.
    """

    dirty: int = 0
    tag: int = 0
    others: int = 0


class Bitmap:
    """A set of granules.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration, with a window.

    Attributes
    ----------
    words : list of Word
        The window.
    outside : int or None
        The latest operation that inserted granules outside, if any.
    digest : int
        32 bits that depend on every bit of the words, and on ``outside``.
    events : Counter of str
        How often granules were inserted into an empty word (``insert``), beside others (``merge``)
        or over others (``cover``), a word lost some (``shrink``) or all (``drop``), and granules
        outside were merged with all others there (``compact``).
    """

    def __init__(self, params: NoncoherentParams) -> None:
        self._params = params
        self._layout = params.word_layout
        self.events: Counter[str] = Counter()
        self.clear()

    def clear(self) -> None:
        """Empty the set."""
        self.words = [Word()] * self._params.words
        self.outside: int | None = None
        self.digest = 0

    def look_up(self, first: int, end: int) -> Hit:
        """The first word that has some of the bytes, else the outside."""
        for index, mask in self._parts(first, end):
            word = self.words[index]
            if word.dirty & mask:
                return Hit(1, 1, word.others, word.tag)
        if self.outside is None or not self._leaves(first, end):
            return MISS
        return Hit(1, 0, 1, self.outside)

    def insert(self, added: Entry) -> None:
        """Insert granules."""
        for index, mask in self._parts(added.first, added.end):
            dirty, tag, others = self.words[index]
            has_own = bool(dirty & ~mask)
            mixed = has_own & (others | (tag != added.tag))
            self._put(index, Word(dirty | mask, added.tag, int(mixed)))
            self.events["merge" if has_own else "cover" if dirty else "insert"] += 1
        if self._leaves(added.first, added.end):
            self._put_outside(added.tag)
            self.events["compact"] += 1

    def remove(self, first: int, end: int) -> None:
        """Remove granules."""
        for index, mask in self._parts(first, end):
            word = self.words[index]
            if word.dirty & mask:
                rest = word.dirty & ~mask
                self._put(index, word._replace(dirty=rest))
                self.events["shrink" if rest else "drop"] += 1
        if self.outside is not None and not first and end >> self._params.address_bits:
            self._put_outside(None)

    def _leaves(self, first: int, end: int) -> bool:
        base = self._params.window_base
        return first < base or end > base + self._params.window_bytes

    def _parts(self, first: int, end: int) -> Iterator[tuple[int, int]]:
        """Words of a range in ascending order, and its granules in each."""
        base, granule = self._params.window_base, self._params.granule_bytes
        low = max(first - base, 0) // granule
        high = -(-min(end - base, self._params.window_bytes) // granule)
        for index in range(low // WORD_GRANULES, -(-high // WORD_GRANULES)):
            start = index * WORD_GRANULES
            below = (1 << max(low - start, 0)) - 1
            yield index, ((1 << min(high - start, WORD_GRANULES)) - 1) & ~below

    def _put(self, index: int, word: Word) -> None:
        for one in (self.words[index], word):
            self.digest ^= folded(self._layout.pack(one._asdict()), index)
        self.words[index] = word

    def _put_outside(self, tag: int | None) -> None:
        for one in (self.outside, tag):
            if one is not None:
                self.digest ^= DIGEST_MASK ^ one
        self.outside = tag
