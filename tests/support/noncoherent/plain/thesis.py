"""Mode ``thesis``: the rules of the thesis' Section 3.3 as interval sets.

No search for paths is needed: a write-back that may still come has no successor, DMA since the
last sync is before that sync and later DMA only, and nothing that comes later is before an
earlier node.  So overlap alone decides.

Rule 6c never fires: a line that was filled for an earlier read is ordered before a later DMA
write by program order.  Rules 3f to 3i change no verdict.

Ref: Young (UBC 2020) Sections 3.2 and 3.3.
"""

from __future__ import annotations

from itertools import chain

from racetrap.golden_model.noncoherent.rules import Overlap, Rule
from tests.support.noncoherent.plain.detector import Access, Detector, Finding


class Thesis(Detector):
    """Three sets: what may still be written back, what engines read, and what they write."""

    def _cached_read(self, access: Access) -> list[Finding]:
        return self._with_blocks(Rule.CACHED_READ_DMA, self.writing, access, Overlap.LINE)

    def _cached_write(self, access: Access) -> list[Finding]:
        dma = chain(self.writing, self.reading)
        found = self._with_blocks(Rule.CACHED_WRITE_DMA, dma, access, Overlap.GRANULE)
        self._make_dirty(access)
        return found

    def _uncached_read(self, access: Access) -> list[Finding]:
        return [
            *self._with_dirty(Rule.UNCACHED_READ_DIRTY, access.bytes),
            *self._with_bytes(Rule.UNCACHED_READ_DMA, self.writing, access.bytes),
        ]

    def _uncached_write(self, access: Access) -> list[Finding]:
        dma = chain(self.writing, self.reading)
        return [
            *self._with_dirty(Rule.UNCACHED_WRITE_DIRTY, access.bytes),
            *self._with_bytes(Rule.UNCACHED_WRITE_DMA, dma, access.bytes),
        ]

    def _dma_read(self, access: Access) -> list[Finding]:
        found = [
            *self._with_dirty(Rule.DMA_READ_DIRTY, access.bytes),
            *self._with_other_engines([self.writing], access),
        ]
        self._issue(self.reading, access)
        return found

    def _dma_write(self, access: Access) -> list[Finding]:
        found = [
            *self._with_dirty(Rule.DMA_WRITE_DIRTY, access.bytes),
            *self._with_other_engines([self.writing, self.reading], access),
        ]
        self._issue(self.writing, access)
        return found

    def _flush(self, access: Access) -> list[Finding]:
        return self._clean(access)

    def _invalidate(self, access: Access) -> list[Finding]:
        return self._clean(access)
