"""Cures of the findings of a check: of one after the other, in a limited time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import monotonic

from racetrap.sim.gpu.editing.edits import Edit
from racetrap.verdict.cause import Cause, Cure
from racetrap.verdict.gpu.cure.cure import CureSearch
from racetrap.verdict.gpu.cure.edit_trials import Races
from racetrap.verdict.gpu.cure.trials import OutOfTime, Sources
from racetrap.verdict.gpu.trace_check import TraceCheck
from racetrap.verdict.race_findings import RaceFinding, race_findings

#: Shows how far the search is.
Progress = Callable[[Sequence[int]], Iterable[int]]


class FindingCures:
    """Cures of the findings of a check, kept with their pairs of lines.

    Parameters
    ----------
    check : TraceCheck
        The check.
    sources : Sources
        What was checked, to be edited.
    seconds : float
        Time after which no more edits are tried.
    progress : callable
        Takes the numbers of the findings, and shows which of them is at work.

    Attributes
    ----------
    findings : list of RaceFinding
        The findings, each with its cure.
    late : list of RaceFinding
        Those for which no time was left.
    """

    def __init__(
        self, check: TraceCheck, sources: Sources, seconds: float = float("inf"),
        progress: Progress = lambda numbers: numbers,
    ) -> None:  # fmt: skip
        self._sources = sources
        begin = monotonic()
        sources.end = begin + seconds
        self._named = _names(sources)
        self.findings = race_findings(check.pairs)
        self._races = [self._places(finding) for finding in self.findings]
        self._search: CureSearch | None = None
        found: dict[int, Cure] = {}
        try:
            if self.findings:
                self._search = CureSearch(sources)
                self._look(self._search, found, progress)
        except OutOfTime:
            pass
        for number, finding in enumerate(self.findings):
            for pair in finding.pairs:
                pair.cure = found.get(number) or _late(finding, sources, monotonic() - begin)
        self.late = [each for number, each in enumerate(self.findings) if number not in found]

    def _look(self, search: CureSearch, found: dict[int, Cure], progress: Progress) -> None:
        """Look for the cures of all findings, by their numbers: first of those whose threads are
        the farthest apart, as one barrier of the block may also cure races inside a warp."""
        numbers = sorted(
            range(len(self.findings)), key=lambda number: -search.distance(self._races[number])
        )
        is_alone = len(numbers) == 1
        for number in progress(numbers):
            found[number] = search.cure(self._races[number], self._cause(number), is_alone=is_alone)
        self._look_again(search, found)
        # What follows from another bug may have come before it.
        for number, cure in found.items():
            if not cure.edits:
                found[number] = search.other_cure(self._races[number]) or cure

    def _look_again(self, search: CureSearch, found: dict[int, Cure]) -> None:
        """Cure those together that are nearly cured, or else each by other edits."""
        nearly = [each for each in found if search.is_nearly_cured(self._races[each])]
        cures = search.cures_together([self._races[each] for each in nearly])
        found.update(zip(nearly, cures, strict=False))
        for number in nearly[len(cures) :]:
            found[number] = search.cure(self._races[number], self._cause(number))

    @property
    def cured(self) -> list[RaceFinding]:
        """Findings that have a cure."""
        return [each for each in self.findings if each.cure and each.cure.edits]

    def together(self) -> tuple[Edit, ...]:
        """Edits of as many cures as end their races together."""
        if self._search is None:
            return ()
        known = self._search.races
        ended = {
            race for finding, races in zip(self.findings, self._races, strict=True)
            if finding.cure and finding.cure.edits for race in races if race in known
        }  # fmt: skip
        # It is the last step, and one that has begun.
        self._sources.end = float("inf")
        return self._search.together([each.cure for each in self.cured if each.cure], ended)

    def _places(self, finding: RaceFinding) -> Races:
        return frozenset(
            frozenset(map(self._named, pair.first.places)) for pair in finding.pairs
        )  # fmt: skip

    def _cause(self, number: int) -> Cause | None:
        """Cause of a finding, with places as the sources have them."""
        cause = self.findings[number].first.cause
        return cause and cause.with_chains(lambda chain: tuple(map(self._named, chain)))


def _late(finding: RaceFinding, sources: Sources, seconds: float) -> Cure:
    """What is known without a cure."""
    half = f": {finding.first.cause.half}" if finding.first.cause else ""
    tried = f"{sources.trials} edited versions tried in {seconds:.0f} s"
    return Cure((), f"no edit had passed when the time of --budget was over ({tried}){half}")


def _names(sources: Sources) -> Callable[[str], str]:
    """Gives a place by the name that its source has among those that may be edited."""
    folder = sources.folder
    files = {str((folder / name).resolve()): name for name in sources.texts}

    def named(place: str) -> str:
        file, _, line = place.rpartition(":")
        for path in (Path(file), folder / file):
            if (name := files.get(str(path.resolve()))) is not None:
                return f"{name}:{line}"
        return place

    return named
