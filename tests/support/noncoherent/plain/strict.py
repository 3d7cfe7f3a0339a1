"""Mode ``strict``: the races of the machine, byte by byte, and no others.

A byte is *stale* if the cache may hold an older value of it than memory has or gets.

Ref: Young (UBC 2020) Section 3.3, made exact; the machine is ``machine.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from racetrap.golden_model.noncoherent.races import Origin
from racetrap.golden_model.noncoherent.ranges import Ranges, common
from racetrap.golden_model.noncoherent.rules import Overlap, Rule
from racetrap.golden_model.trace.noncoherent.operations import MemorySystem
from tests.support.noncoherent.plain.detector import Access, Detector, Finding
from tests.support.noncoherent.plain.interval_set import ByteSet, IntervalSet

_ANY_LINE = Origin(0, 0)
_LAST_BYTE = (1 << 64) - 1


class Strict(Detector):
    """Sets beside those of the thesis: valid lines, stale bytes, and bytes lost.

    ``lost`` has the bytes that an invalidation may have dropped and nobody has overwritten since,
    with the invalidation as their origin.
    """

    def __init__(self, memory: MemorySystem, new_set: Callable[[], ByteSet] = IntervalSet) -> None:
        super().__init__(memory, new_set)
        self.valid, self.stale, self.lost = new_set(), new_set(), new_set()
        self._missed: set[tuple[int, ...]] = set()

    def missed_places(self) -> set[tuple[int, ...]]:
        """Places of invalidations that lost data which was read, or is left in memory."""
        left = self.lost.overlaps(0, _LAST_BYTE)
        return self._missed | {run.origin.place for run in left}

    def _cached_read(self, access: Access) -> list[Finding]:
        found = [
            *self._with_bytes(Rule.CACHED_READ_DMA, self.writing, access.bytes),
            *self._with_bytes(Rule.STALE_READ, [self.stale], access.bytes),
        ]
        self._use(access)
        self._fill(access)
        return found

    def _cached_write(self, access: Access) -> list[Finding]:
        neighbours = difference(access.granules, access.bytes)
        found = [
            *self._with_blocks(Rule.CACHED_WRITE_DMA, self.writing, access, Overlap.GRANULE),
            *self._with_bytes(Rule.CACHED_WRITE_DMA, self.reading, access.bytes),
            *(
                finding._replace(overlap=Overlap.GRANULE)
                for finding in self._with_bytes(Rule.STALE_WRITE_BACK, [self.stale], neighbours)
            ),
        ]
        self._overwrite(access)
        for first, last in access.bytes:
            self.stale.remove(first, last)
        self._fill(access)
        self._make_dirty(access)
        return found

    def _uncached_read(self, access: Access) -> list[Finding]:
        found = self._with_bytes(Rule.UNCACHED_READ_DMA, self.writing, access.bytes)
        if not self.memory.uncached_snoops_cache:
            found += self._with_bytes(Rule.UNCACHED_READ_DIRTY, [self.dirty_bytes], access.bytes)
        self._use(access)
        return found

    def _uncached_write(self, access: Access) -> list[Finding]:
        dma = chain(self.writing, self.reading)
        found = self._with_bytes(Rule.UNCACHED_WRITE_DMA, dma, access.bytes)
        if self.memory.uncached_snoops_cache:
            for first, last in access.bytes:
                self.stale.remove(first, last)
                self.dirty_bytes.remove(first, last)
        else:
            found += self._with_dirty(Rule.UNCACHED_WRITE_DIRTY, access.bytes)
            self._make_stale(access)
        self._overwrite(access)
        return found

    def _dma_read(self, access: Access) -> list[Finding]:
        found = [
            *self._with_bytes(Rule.DMA_READ_DIRTY, [self.dirty_bytes], access.bytes),
            *self._with_other_engines([self.writing], access),
        ]
        self._use(access)
        self._issue(self.reading, access)
        return found

    def _dma_write(self, access: Access) -> list[Finding]:
        found = [
            *self._with_dirty(Rule.DMA_WRITE_DIRTY, access.bytes),
            *self._with_other_engines([self.writing, self.reading], access),
        ]
        self._overwrite(access)
        self._issue(self.writing, access)
        self._make_stale(access)
        return found

    def _flush(self, access: Access) -> list[Finding]:
        for first, last in access.lines:
            self.stale.remove(first, last)
            if self.memory.prefetch:
                # The line may be filled again at once.
                self._add_writing(first, last)
            else:
                self.valid.remove(first, last)
        return self._clean(access)

    def _invalidate(self, access: Access) -> list[Finding]:
        found = self._with_blocks(Rule.LOST_DATA, [self.dirty_bytes], access, Overlap.LINE)
        for first, last in access.lines:
            for run in self.dirty_bytes.overlaps(first, last):
                self.lost.add(run.first, run.last, access.origin)
        self._flush(access)
        return found

    def _fill(self, access: Access) -> None:
        """The cache may take the lines of an access."""
        for first, last in access.lines:
            if not self.memory.prefetch:
                self.valid.add(first, last, _ANY_LINE)
            self._add_writing(first, last)

    def _add_writing(self, first: int, last: int) -> None:
        """Bytes that a line may take from memory before an engine writes them."""
        for writing in self.writing:
            for run in writing.overlaps(first, last):
                self.stale.add(*run)

    def _make_stale(self, access: Access) -> None:
        """Memory gets new bytes behind the cache."""
        for first, last in access.bytes:
            held: Ranges = [(first, last)]
            if not self.memory.prefetch:
                held = [run[:2] for run in self.valid.overlaps(first, last)]
            for low, high in held:
                self.stale.add(low, high, access.origin)

    def _use(self, access: Access) -> None:
        """Somebody reads bytes: those that were lost are missed."""
        for first, last in access.bytes:
            self._missed.update(run.origin.place for run in self.lost.overlaps(first, last))

    def _overwrite(self, access: Access) -> None:
        """Somebody writes bytes: nobody misses what was lost of them."""
        for first, last in access.bytes:
            self.lost.remove(first, last)


def difference(ranges: Iterable[tuple[int, int]], taken: Ranges) -> Ranges:
    """Parts of ``ranges`` that are not in ``taken``."""
    left: Ranges = []
    for first, last in ranges:
        for low, high in common(taken, first, last):
            if first < low:
                left.append((first, low - 1))
            first = high + 1
        if first <= last:
            left.append((first, last))
    return left
