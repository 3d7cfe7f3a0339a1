"""Races of a run: findings put together by rule and places of the program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from racetrap.golden_model.noncoherent.detector import Finding
from racetrap.golden_model.noncoherent.interval_set import Origin
from racetrap.golden_model.noncoherent.rules import Overlap, Rule, is_harmless_alone


@dataclass
class Race:
    """Two places of the program that break a rule.

    Parameters
    ----------
    rule : Rule
        The rule.
    later : Origin
        The operation that found it first.
    earlier : Origin
        The other one.
    first, last : int
        Bytes in question.
    overlap : Overlap
        What the two have in common; if there are several instances, in the first of those that
        have bytes in common.
    instances : int
        Operations of the later place that found it.
    is_overwritten : bool
        Of lost data: all of it is overwritten before anyone reads it.
    """

    rule: Rule
    later: Origin
    earlier: Origin
    first: int
    last: int
    overlap: Overlap
    instances: int = 1
    is_overwritten: bool = False

    @property
    def is_false_sharing(self) -> bool:
        """Whether no byte that either operation uses can come out wrong by it."""
        return is_harmless_alone(self.rule, self.earlier.kind, self.overlap)


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
