"""Tiles of a GPU that a co-simulation of a few has, and traffic for these alone.

A GPU of today has hundreds of tiles: too many for a simulator.  A few of them, each as in the GPU
with its number and widths, show what all do.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from racetrap.golden_model.gpu.params import WORD_BYTES, WORDS_PER_LINE
from racetrap.golden_model.gpu.region import Region, bank_of

#: Most SM units, and most slice units.
_MOST = 4


def _spread(count: int) -> tuple[int, ...]:
    """The first and the last numbers, and some between: low and high bits of numbers differ."""
    return tuple(sorted({0, min(1, count - 1), count // 2, count - 1}))[:_MOST]


@dataclass(frozen=True)
class TilePlaces:
    """SM units and slice units that are there.

    Parameters
    ----------
    params : GpuParams
        The GPU's configuration.
    """

    params: Any

    @property
    def sms(self) -> tuple[int, ...]:
        """Numbers of the SMs."""
        return _spread(self.params.sm_count)

    @property
    def ports(self) -> tuple[int, ...]:
        """Numbers of the metadata ports, each with a slice unit."""
        return _spread(self.params.metadata_ports)

    @property
    def are_all(self) -> bool:
        """Whether the GPU has no others."""
        params = self.params
        return len(self.sms) == params.sm_count and len(self.ports) == params.metadata_ports

    @cached_property
    def banks(self) -> frozenset[int]:
        """Detector banks of the slice units."""
        lanes = self.params.words_per_cycle
        return frozenset(lanes * port + lane for port in self.ports for lane in range(lanes))

    @property
    def playing(self) -> Any:
        """The configuration of a GPU that has as many SMs as are there."""
        return replace(self.params, sm_count=len(self.sms))

    @cached_property
    def words(self) -> tuple[int, ...]:
        """For each word of a period of banks, the one whose bank is there that stands for it.

        Words of a period alone change places, so accesses stay in their region, and those that
        share an entry do so still.
        """
        there = self._there
        return tuple(
            word if bank_of(self.params, word) in self.banks else there[word % len(there)]
            for word in range(self._period)
        )

    @cached_property
    def _period(self) -> int:
        """Words after which banks repeat."""
        params = self.params
        period = (1 << params.bank_index_bits) * params.granularity // WORD_BYTES
        return max(period, WORDS_PER_LINE)

    @cached_property
    def _there(self) -> tuple[int, ...]:
        """Words of a period whose bank is there."""
        return tuple(
            word for word in range(self._period) if bank_of(self.params, word) in self.banks
        )

    def word(self, word: int) -> int:
        """The word that stands for a word."""
        place = word % len(self.words)
        return word - place + self.words[place]

    def drawn(self, region: Region) -> Region:
        """The region that events are drawn in: about as many words as of ``region`` are there, or
        the smallest."""
        words = self._words_there(region)
        size_log2 = (words * WORD_BYTES).bit_length() - 1
        return replace(region, size_log2=max(size_log2, self.playing.min_region_log2))

    def spread(self, region: Region, word: int) -> int:
        """The word that a word of the region drawn stands for.

        The first words stand for those of ``region`` that are there, one each, in their order.
        """
        number = word - region.data_base // WORD_BYTES
        if not 0 <= number < self._words_there(region):
            return self.word(word)
        period, place = divmod(number, len(self._there))
        return word - number + period * self._period + self._there[place]

    def _words_there(self, region: Region) -> int:
        words = (1 << region.size_log2) // WORD_BYTES
        return len(self._there) * (words // self._period)

    def line(self, line: int, mask: int) -> tuple[int, int]:
        """A line, and those of its words that are to stand for some words of a line."""
        first, there = self.word(line * WORDS_PER_LINE), 0
        line = first // WORDS_PER_LINE
        for place in range(WORDS_PER_LINE):
            word = line * WORDS_PER_LINE + place
            there |= (self.word(word) == word) << place
        kept = mask & there
        return line, kept if kept or not mask else 1 << first % WORDS_PER_LINE
