"""Findings: the oracle's races of one or several runs, one for each pair of source lines.

A loop of a large grid races in a great many instances; who mends it looks at two lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from racetrap.golden_model.barracuda import Race, RaceClass, RaceKind

__all__ = ["LinePair", "LinePairs", "place_of"]


def place_of(pc: int, locations: Mapping[int, str]) -> str:
    """Line of the source of a program counter; the counter if it has none."""
    return locations.get(pc, f"pc {pc:#x}")


@dataclass
class LinePair:
    """All races between two places.

    Parameters
    ----------
    earlier, later : str
        Places, such as ``file.cu:12``, in the order of the first race.
    race : Race
        The first race.
    kinds : Counter
        Instances of each kind of race.
    classes : Counter
        Instances of each relation of the two threads.
    block_pairs : int
        Pairs of blocks that race, of all runs.
    schedules : set of int
        Runs in which it was found.
    """

    earlier: str
    later: str
    race: Race
    kinds: Counter[RaceKind] = field(default_factory=Counter)
    classes: Counter[RaceClass] = field(default_factory=Counter)
    block_pairs: int = 0
    schedules: set[int] = field(default_factory=set)

    @property
    def instances(self) -> int:
        """Pairs of accesses that race."""
        return self.kinds.total()


class LinePairs:
    """Races grouped by pair of places.

    Attributes
    ----------
    found : dict of frozenset of str to LinePair
        By places, in the order in which they were first found.
    """

    def __init__(self) -> None:
        self.found: dict[frozenset[str], LinePair] = {}

    def add(self, schedule: int, races: Iterable[Race], locations: Mapping[int, str]) -> None:
        """Take the races of a run.

        Parameters
        ----------
        schedule : int
            Number of the run, from 0.
        races : iterable of Race
            Its races.
        locations : mapping of int to str
            Source places of its program counters.
        """
        for race in races:
            earlier, later = (place_of(party.pc, locations) for party in (race.first, race.second))
            pair = self.found.setdefault(
                frozenset((earlier, later)), LinePair(earlier, later, race)
            )
            pair.kinds[race.kind] += race.instances
            pair.classes[race.race_class] += race.instances
            pair.block_pairs += race.block_pairs
            pair.schedules.add(schedule)
