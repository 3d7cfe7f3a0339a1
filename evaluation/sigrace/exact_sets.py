"""Exact sets of the NumPy engine: intersections of blocks by addresses, without hashing.

Ref: SigRace (ISCA'09) Section 5.2.
"""

from __future__ import annotations

import numpy as np

from racetrap.evaluation.sigrace.blocks import Blocks
from racetrap.evaluation.sigrace.windows import Pairs
from racetrap.golden_model.arrays import ranges
from racetrap.golden_model.sigrace.packets import Conflict

__all__ = ["ExactSets"]

#: Granules looked up at a time, and bytes of the table of some messages; they bound the memory.
_CHUNK_GRANULES = 1 << 21
_TABLE_BYTES = 1 << 25


class ExactSets:
    """The sets of some blocks without hashing.

    Only granules that two threads access and one writes can be in an intersection; others are
    left out from the start.

    Parameters
    ----------
    blocks : Blocks
        The blocks.
    """

    def __init__(self, blocks: Blocks) -> None:
        sets = np.repeat(np.arange(len(blocks.first) - 1), np.diff(blocks.first))
        values, number = np.unique(blocks.granule, return_inverse=True)
        thread = blocks.thread[sets >> 1]
        lowest, highest = np.full(len(values), thread.max(initial=0)), np.zeros(len(values), int)
        np.minimum.at(lowest, number, thread)
        np.maximum.at(highest, number, thread)
        written = np.zeros(len(values), bool)
        written[number[sets & 1 == 1]] = True
        kept = ((lowest < highest) & written)[number]
        _, self._granule = np.unique(number[kept], return_inverse=True)
        self._is_write = sets[kept] & 1
        self._first = np.searchsorted(sets[kept] >> 1, np.arange(len(blocks.thread) + 1))
        self._count = int(self._granule.max(initial=-1)) + 1

    def conflicts(self, pairs: Pairs) -> np.ndarray:
        """``Conflict`` bits of each pair; messages must not descend."""
        found = np.zeros(len(pairs.message), np.uint8)
        rows = np.cumsum(self._first[pairs.entry + 1] - self._first[pairs.entry])
        _, number = np.unique(pairs.message, return_inverse=True)
        messages = max(1, _TABLE_BYTES // max(self._count, 1))
        start = 0
        while start < len(found):
            done = rows[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(rows, done + _CHUNK_GRANULES)))
            stop = min(stop, int(np.searchsorted(number, number[start] + messages)))
            part = slice(start, stop)
            found[part] = self._some(pairs.message[part], pairs.entry[part])
            start = stop
        return found

    def _some(self, message: np.ndarray, entry: np.ndarray) -> np.ndarray:
        """``Conflict`` bits, by a table of what each message has read (1) and written (2)."""
        messages, line = np.unique(message, return_inverse=True)
        table = np.zeros((len(messages), self._count), np.uint8)
        owner, row = self._rows(messages)
        for is_write in (0, 1):
            chosen = self._is_write[row] == is_write
            table[owner[chosen], self._granule[row[chosen]]] |= 1 << is_write
        owner, row = self._rows(entry)
        seen = table[line[owner], self._granule[row]]
        # What the entry has read conflicts with a write only; what it wrote with both.
        bits = np.where(self._is_write[row], _WRITTEN[seen], _READ[seen])
        found = np.zeros(len(entry), np.uint8)
        for kind in (Conflict.READ_WRITE, Conflict.WRITE_READ, Conflict.WRITE_WRITE):
            found[owner[(bits & int(kind)) != 0]] |= int(kind)
        return found

    def _rows(self, blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All rows of some blocks, each with the position of its block among them."""
        first = self._first[blocks]
        sizes = self._first[blocks + 1] - first
        return np.repeat(np.arange(len(blocks)), sizes), ranges(first, sizes)


#: ``Conflict`` by what the message did with a granule (1: read, 2: wrote) that the entry read.
_READ = np.array([0, 0, Conflict.WRITE_READ, Conflict.WRITE_READ], np.uint8)
#: The same for one that the entry wrote.
_WRITTEN = np.array(
    [0, Conflict.READ_WRITE, Conflict.WRITE_WRITE, Conflict.READ_WRITE | Conflict.WRITE_WRITE],
    np.uint8,
)
