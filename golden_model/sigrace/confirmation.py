"""Confirmation: compares the accesses of two conflicting blocks before anything is executed again.

Signatures conflict for nothing most of the time.  The handler of a rollback request reads both
blocks from the address rings of the core units that have sent them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from racetrap.golden_model.sigrace.address_ring import WORD_LOG2, AddressRing, RingEntry
from racetrap.golden_model.sigrace.packets import BlockName, LogEntry
from racetrap.golden_model.trace.threads.events import GRANULE_BYTES

#: Bytes read and written of each word.
_Bytes = Mapping[int, tuple[int, int]]
_GRANULE_MASK = (1 << GRANULE_BYTES) - 1


class Confirmation:
    """Looks conflicts up in the address rings.

    Parameters
    ----------
    rings : mapping of (int, int) to AddressRing
        Ring of each (core, context).

    Attributes
    ----------
    read : int
        Entries read from the rings so far; a block is read once for each request.
    """

    def __init__(self, rings: Mapping[tuple[int, int], AddressRing]) -> None:
        self.read = 0
        self._rings = rings
        self._blocks: dict[BlockName, _Bytes | None] = {}

    @property
    def written(self) -> int:
        """Entries written to all rings so far."""
        return sum(ring.written for ring in self._rings.values())

    def begin(self) -> None:
        """Begin with another request: what was read for the last one may be gone."""
        self._blocks.clear()

    def common(self, entry: LogEntry) -> set[int] | None:
        """Granules (byte addresses) with a byte that both blocks use and one of them writes.

        Parameters
        ----------
        entry : LogEntry
            The conflict, with the names of its blocks.

        Returns
        -------
        set of int or None
            None if a ring no longer holds its block: the conflict may be real.
        """
        one, other = self._block(entry.block), self._block(entry.other_block)
        if one is None or other is None:
            return None
        return {
            granule
            for word in one.keys() & other.keys()
            for granule in _granules(word, _meet(one[word], other[word]))
        }

    def _block(self, name: BlockName | None) -> _Bytes | None:
        if name is None:
            raise ValueError("Conflict must have the names of its blocks")
        if name not in self._blocks:
            entries = self._rings[name.core, name.context].read(name.number)
            self._blocks[name] = None if entries is None else _bytes_of(entries)
            self.read += len(entries or ())
        return self._blocks[name]


def _bytes_of(entries: Iterable[RingEntry]) -> _Bytes:
    found: defaultdict[int, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for word, used, is_write in entries:
        read, written = found[word]
        found[word] = (read, written | used) if is_write else (read | used, written)
    return found


def _meet(one: tuple[int, int], other: tuple[int, int]) -> int:
    """Bytes that both use and one of them writes."""
    (read, written), (other_read, other_written) = one, other
    return written & (other_read | other_written) | read & other_written


def _granules(word: int, used: int) -> Iterable[int]:
    """Granules (byte addresses) of the bytes of a word."""
    for place in range(0, 1 << WORD_LOG2, GRANULE_BYTES):
        if used >> place & _GRANULE_MASK:
            yield (word << WORD_LOG2) + place
