"""The ScoRD paper's Tables VI and VII, from our own runs.

Ref: ScoRD (ISCA'20) Section V-A.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field

from racetrap.evaluation.scord.paper import FALSE_RACES, RACES, PaperFalseRaces, PaperRaces
from racetrap.evaluation.scord.programs import Build
from racetrap.evaluation.scord.runs import RunResult
from racetrap.verdict.gpu.findings import UniqueRace
from racetrap.verdict.gpu.oracle import unconfirmed
from racetrap.verdict.scord.detect import DETECTORS


@dataclass
class BuildSummary:
    """All runs of one build.

    Parameters
    ----------
    build : Build
        The build.
    runs : int
        Schedules that it ran in.
    present : int
        Runs in which the oracle found a race that ScoRD is to find.
    reported : dict of str to int
        Runs in which each golden model reported a race.
    hardware_runs, hardware_reported : int
        Runs made on the hardware, and those in which it reported a race.
    hardware_agrees : bool
        Whether its unique races were the golden model's in every run.
    unique : dict of str to set of UniqueRace
        Unique races by detector over all runs.
    oracle : set of (int, int, str)
        Unique races of the oracle over all runs.
    reports : dict of UniqueRace to set of int
        Reports of the detector with caching, each with the instructions that it conflicts with.
    outcomes : Counter of str
        Outcomes in the detector with caching of the oracle's unique races, summed over the runs.
    places : dict of int to str
        Source places of program counters.
    """

    build: Build
    runs: int = 0
    present: int = 0
    reported: Counter[str] = field(default_factory=Counter)
    hardware_runs: int = 0
    hardware_reported: int = 0
    hardware_agrees: bool = True
    unique: defaultdict[str, set[UniqueRace]] = field(default_factory=lambda: defaultdict(set))
    oracle: set[tuple[int, int, str]] = field(default_factory=set)
    reports: defaultdict[UniqueRace, set[int]] = field(default_factory=lambda: defaultdict(set))
    outcomes: Counter[str] = field(default_factory=Counter)
    places: dict[int, str] = field(default_factory=dict)

    def add(self, result: RunResult) -> None:
        """Add one run."""
        self.runs += 1
        self.present += bool(result.oracle)
        self.oracle |= result.oracle
        self.outcomes += result.outcomes
        self.places |= result.places
        for report, earlier in result.reports.items():
            self.reports[report].update(earlier)
        for name, races in result.detectors.items():
            self.reported[name] += bool(races)
            self.unique[name] |= races
        if result.hardware is not None:
            self.hardware_runs += 1
            self.hardware_reported += bool(result.hardware.races)
            self.hardware_agrees &= result.hardware.races == result.detectors["cached"]

    @property
    def unconfirmed(self) -> list[UniqueRace]:
        """Races reported with caching for whose instructions the oracle has none in any run."""
        return unconfirmed(self.reports, [(first, second) for first, second, _ in self.oracle])


@dataclass(frozen=True)
class RaceRow:
    """A row of Table VI: races (one for each racy build) present and caught in some run.

    Parameters
    ----------
    name : str
        Application, or the micro-benchmarks together.
    builds : int
        Racy builds.
    oracle : int
        Those with a race by the oracle.
    base : int
        Those caught by the golden model with an entry a word.
    cached : int
        Those caught by the golden model with caching.
    hardware : int or None
        Those caught by the hardware; null if it did not run.
    paper : PaperRaces
        The paper's row.
    """

    name: str
    builds: int
    oracle: int
    base: int
    cached: int
    hardware: int | None
    paper: PaperRaces


@dataclass(frozen=True)
class FalseRow:
    """A row of Table VII: unique false races of the race-free build over all its runs.

    Parameters
    ----------
    name : str
        Application.
    runs : int
        Runs of the race-free build.
    counts : dict of str to int
        Unique false races by detector: ``base``, ``cached``, ``byte8``, ``byte16``.
    paper : PaperFalseRaces
        The paper's row.
    """

    name: str
    runs: int
    counts: Mapping[str, int]
    paper: PaperFalseRaces


@dataclass(frozen=True)
class Tables:
    """Both tables and what they were made from.

    Parameters
    ----------
    races : sequence of RaceRow
        Table VI; its last row is the total.
    false_races : sequence of FalseRow
        Table VII.
    builds : sequence of BuildSummary
        Every build.
    """

    races: Sequence[RaceRow]
    false_races: Sequence[FalseRow]
    builds: Sequence[BuildSummary]


def make_tables(results: Iterable[RunResult]) -> Tables:
    """Tables of some runs; an application that did not run has no row."""
    summaries: dict[Build, BuildSummary] = {}
    for result in results:
        build = result.run.build
        summaries.setdefault(build, BuildSummary(build)).add(result)
    builds = list(summaries.values())
    rows = [_race_row(name, builds) for name in RACES if any(b.build.row == name for b in builds)]
    return Tables([*rows, _total(rows)], _false_rows(builds), builds)


def _race_row(name: str, builds: Sequence[BuildSummary]) -> RaceRow:
    """One race for each switch: builds with several switches on are not counted again."""
    racy = [
        summary
        for summary in builds
        if summary.build.row == name and summary.build.racy and len(summary.build.switches) < 2
    ]
    on_hardware = [summary for summary in racy if summary.hardware_runs]
    return RaceRow(
        name,
        builds=len(racy),
        oracle=sum(bool(summary.present) for summary in racy),
        base=sum(bool(summary.reported["base"]) for summary in racy),
        cached=sum(bool(summary.reported["cached"]) for summary in racy),
        hardware=sum(bool(s.hardware_reported) for s in on_hardware) if on_hardware else None,
        paper=RACES[name],
    )


def _total(rows: Sequence[RaceRow]) -> RaceRow:
    hardware = [row.hardware for row in rows if row.hardware is not None]
    return RaceRow(
        "Total",
        builds=sum(row.builds for row in rows),
        oracle=sum(row.oracle for row in rows),
        base=sum(row.base for row in rows),
        cached=sum(row.cached for row in rows),
        hardware=sum(hardware) if hardware else None,
        paper=PaperRaces(*(sum(astuple(row.paper)[column] for row in rows) for column in range(3))),
    )


def _false_rows(builds: Sequence[BuildSummary]) -> list[FalseRow]:
    return [
        FalseRow(
            summary.build.row,
            summary.runs,
            {name: len(summary.unique[name]) for name in DETECTORS},
            FALSE_RACES[summary.build.row],
        )
        for summary in builds
        if summary.build.row in FALSE_RACES and not summary.build.racy
    ]
