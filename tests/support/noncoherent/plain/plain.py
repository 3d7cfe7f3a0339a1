"""Both modes in plain Python: what judges the compiled detector."""

from __future__ import annotations

from collections.abc import Iterable

from racetrap.golden_model.noncoherent.noncoherent import Noncoherent
from racetrap.golden_model.noncoherent.races import Origin, Race
from racetrap.golden_model.noncoherent.rules import Overlap, Rule
from racetrap.golden_model.trace.noncoherent.operations import Operation
from tests.support.noncoherent.plain.detector import Detector, Finding
from tests.support.noncoherent.plain.strict import Strict
from tests.support.noncoherent.plain.thesis import Thesis

#: Detectors by the name of their mode.
MODES: dict[str, type[Detector]] = {"strict": Strict, "thesis": Thesis}


def plain_races(chosen: Noncoherent, operations: Iterable[Operation]) -> list[Race]:
    """Races of a run, in the order of their first instances."""
    detector, races = MODES[chosen.mode](chosen.memory), RaceTable()
    for number, operation in enumerate(operations):
        findings = detector.step(number, operation)
        if findings:
            races.add(Origin(number, operation.kind, operation.engine, operation.pc), findings)
    return races.close(detector.missed_places())


def plain_first(chosen: Noncoherent, operations: Iterable[Operation]) -> int | None:
    """Number of the first operation that breaks a rule."""
    detector = MODES[chosen.mode](chosen.memory)
    racy = (number for number, each in enumerate(operations) if detector.step(number, each))
    return next(racy, None)


class RaceTable:
    """Races so far; iterating gives them in the order of their first instances."""

    def __init__(self) -> None:
        self._races: dict[tuple[Rule, tuple[int, ...], tuple[int, ...]], Race] = {}
        self._latest: dict[tuple[Rule, tuple[int, ...], tuple[int, ...]], int] = {}

    def add(self, later: Origin, findings: Iterable[Finding]) -> None:
        """Take the findings of an operation."""
        for rule, earlier, first, last, overlap in findings:
            key = rule, later.place, earlier.place
            race = self._races.get(key)
            if race is None:
                self._races[key] = Race(rule, later, earlier, first, last, overlap)
                self._latest[key] = later.number
                continue
            if overlap is Overlap.BYTES is not race.overlap:
                race.later, race.earlier = later, earlier
                race.first, race.last, race.overlap = first, last, overlap
            race.instances += self._latest[key] != later.number
            self._latest[key] = later.number

    def close(self, missed: set[tuple[int, ...]]) -> list[Race]:
        """All races, at the end of the run.

        Parameters
        ----------
        missed : set
            Places of invalidations that lost data which was read, or is left in memory.
        """
        for race in self._races.values():
            race.is_overwritten = race.rule is Rule.LOST_DATA and race.later.place not in missed
        return list(self._races.values())
