"""Figures of the ScoRD paper, for the columns beside our own.

Ref: ScoRD (ISCA'20) Tables VI and VII.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

#: Name of the row of Table VI that sums up the micro-benchmarks.
MICRO_BENCHMARKS_ROW = "Microbenchmarks"


@dataclass(frozen=True)
class PaperRaces:
    """The paper's row of Table VI.

    Parameters
    ----------
    present : int
        Races present.
    base : int
        Those caught without caching.
    cached : int
        Those caught with caching.
    """

    present: int
    base: int
    cached: int


@dataclass(frozen=True)
class PaperFalseRaces:
    """The paper's row of Table VII: false races.

    Parameters
    ----------
    byte4 : int
        At 4 bytes an entry.
    byte8 : int
        At 8 bytes.
    byte16 : int
        At 16 bytes.
    cached : int
        With caching.
    """

    byte4: int
    byte8: int
    byte16: int
    cached: int


#: Table VI.
RACES: Mapping[str, PaperRaces] = MappingProxyType({
    "MM": PaperRaces(4, 4, 4),
    "RED": PaperRaces(2, 2, 2),
    "R110": PaperRaces(2, 2, 1),
    "GCOL": PaperRaces(6, 6, 6),
    "GCON": PaperRaces(5, 5, 5),
    "1DC": PaperRaces(1, 1, 1),
    "UTS": PaperRaces(6, 6, 6),
    MICRO_BENCHMARKS_ROW: PaperRaces(18, 18, 18),
})  # fmt: skip

#: Table VII.
FALSE_RACES: Mapping[str, PaperFalseRaces] = MappingProxyType({
    "MM": PaperFalseRaces(0, 1, 3, 0),
    "RED": PaperFalseRaces(0, 1, 1, 0),
    "R110": PaperFalseRaces(0, 2, 2, 0),
    "GCOL": PaperFalseRaces(0, 27, 29, 0),
    "GCON": PaperFalseRaces(0, 28, 28, 0),
    "1DC": PaperFalseRaces(0, 1, 2, 0),
    "UTS": PaperFalseRaces(0, 12, 23, 0),
})  # fmt: skip
