"""Findings: races by bug, the pairs of lines of each below it.

Pairs that lack the same synchronisation, or that lack it on the same object, are one bug: a lock of
too narrow a scope lets all accesses under it race.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from racetrap.verdict.cause import Cure
from racetrap.verdict.codes import code_of, codes
from racetrap.verdict.line_pairs import LinePair, LineRace


@dataclass(frozen=True)
class RaceFinding:
    """A bug: races of one cause.

    Parameters
    ----------
    pairs : sequence of LinePair
        Its pairs of lines, those with the most instances first.
    code : str
        Its code.
    """

    pairs: Sequence[LinePair]
    code: str

    @property
    def first(self) -> LineRace:
        """The race that stands for all."""
        return self.pairs[0].first

    @property
    def cure(self) -> Cure | None:
        """What ends it, or why nothing was found, if that was looked for."""
        return self.pairs[0].cure

    @property
    def level(self) -> str:
        """How bad it is."""
        return codes()[self.code].level

    @property
    def instances(self) -> int:
        """Pairs of accesses that race."""
        return sum(pair.instances for pair in self.pairs)

    @property
    def is_least(self) -> bool:
        """Whether there may have been more."""
        return any(pair.is_least for pair in self.pairs)


def kind_of(race: LineRace) -> str:
    """What a race lacks, or its kind, in a word that has a code."""
    return race.cause.kind if race.cause else race.kind


def race_findings(pairs: Iterable[LinePair]) -> list[RaceFinding]:
    """Pairs by bug, those with the most instances first."""
    groups: list[list[LinePair]] = []
    by_mark: dict[Hashable, list[LinePair]] = {}
    for pair in pairs:
        marks = list(_marks(pair.first))
        joined = {id(by_mark[mark]): by_mark[mark] for mark in marks if mark in by_mark}
        group = [pair, *chain.from_iterable(joined.values())]
        groups = [each for each in groups if id(each) not in joined]
        groups.append(group)
        by_mark |= {mark: group for each in group for mark in _marks(each.first)}
    for group in groups:
        group.sort(key=lambda pair: -pair.instances)
    found = [RaceFinding(group, code_of(kind_of(group[0].first))) for group in groups]
    return sorted(found, key=lambda finding: -finding.instances)


def _marks(race: LineRace) -> Iterator[Hashable]:
    """What two races of one bug have in common."""
    if race.cause is None:
        return
    for each in race.cause.changes:
        yield race.cause.missing, each.chain
    if not race.cause.changes and race.memory_object is not None:
        yield race.cause.missing, race.memory_object
