"""Verdicts of the oracle by each of its rules on the ScoR suite and on the suite of small kernels.

Ref: ScoRD (ISCA'20) Section III-B, Tables I, II and VI; PTX ISA 9.0, Section 8.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from racetrap.evaluation.scord.programs import (
    Build,
    Schedule,
    applications,
    micro_benchmarks,
    trace_of,
)
from racetrap.evaluation.table import Cell, Table
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.executor.device import DEFAULT_REGION_LOG2
from racetrap.sim.gpu.oracle import ORACLE_RULES, OracleRule, run_oracle
from racetrap.sim.gpu.suites.concurrency.cases import BARRIER_DIVERGENCE, GROUPS, Case
from racetrap.sim.gpu.suites.concurrency.runner import capture

_MICROS, _APPLICATIONS, _SMALL = "ScoR micro-benchmarks", "ScoR applications", "small kernels"


@dataclass(frozen=True)
class Subject:
    """A program to judge.

    Parameters
    ----------
    group : str
        Table that it stands in.
    name : str
        Its name, with the race switches that are on.
    is_racy : bool
        Whether it is meant to race: of a small kernel, by the ``scoped`` rule.
    source : Build or Case
        What to run.
    """

    group: str
    name: str
    is_racy: bool
    source: Build | Case

    def trace(self, size: str, schedule: Schedule) -> Trace:
        """Trace of a run."""
        if isinstance(self.source, Case):
            return capture(self.source, schedule.scheduler, schedule.own_seed)
        return trace_of(self.source, size, schedule, schedule.seed, DEFAULT_REGION_LOG2)


@dataclass(frozen=True)
class SubjectRun:
    """Runs of a subject in all schedules; plain data, for a worker process.

    Parameters
    ----------
    subject : Subject
        What to run.
    size : str
        Size of an application's input.
    schedules : tuple of Schedule
        How to schedule it.
    """

    subject: Subject
    size: str
    schedules: tuple[Schedule, ...]


@dataclass
class Verdicts:
    """Findings of each rule in a subject, over all schedules.

    Parameters
    ----------
    subject : Subject
        The subject.
    races : dict of str to int
        Different races by rule.
    strong : dict of str to int
        Different pairs that are listed apart by rule.
    """

    subject: Subject
    races: dict[str, int] = field(default_factory=dict)
    strong: dict[str, int] = field(default_factory=dict)


def subjects() -> Iterator[Subject]:
    """Every micro-benchmark, every application race-free and with each switch, every kernel with
    races of threads or none."""
    for build in micro_benchmarks():
        yield Subject(_MICROS, build.program, build.racy, build)
    for build in applications(all_together=False):
        yield Subject(_APPLICATIONS, f"{build.program}, {build.label}", build.racy, build)
    for cases in GROUPS.values():
        for case in cases:
            is_racy = bool(case.scoped_races - BARRIER_DIVERGENCE)
            yield Subject(_SMALL, case.name, is_racy, case)


def judge(run: SubjectRun) -> Verdicts:
    """Run a subject in each schedule, and judge it by each rule."""
    races: dict[str, set[object]] = {rule: set() for rule in ORACLE_RULES}
    strong: dict[str, set[object]] = {rule: set() for rule in ORACLE_RULES}
    for schedule in run.schedules:
        trace = run.subject.trace(run.size, schedule)
        for rule in ORACLE_RULES:
            result = run_oracle(trace, rule)
            races[rule] |= {race.key for race in result.races}
            strong[rule] |= {race.key for race in result.unordered_strong}
    return Verdicts(
        run.subject,
        {rule: len(found) for rule, found in races.items()},
        {rule: len(found) for rule, found in strong.items()},
    )


def tables(verdicts: Iterable[Verdicts]) -> list[Table]:
    """A summary, and a table of each group."""
    groups: dict[str, list[Verdicts]] = {}
    for each in verdicts:
        groups.setdefault(each.subject.group, []).append(each)
    summary = Table(
        "rules", "Programs in which each rule finds a race, of those meant to race and of others",
        "A program counts if the rule finds a race in one of the schedules.",
        ("group", "meant", "programs", *ORACLE_RULES),
        tuple(_summary_row(group, members, is_racy)
              for group, members in groups.items() for is_racy in (True, False)),
    )  # fmt: skip
    return [summary, *(_group_table(group, members) for group, members in groups.items())]


def _meaning(is_racy: bool) -> str:
    return "racy" if is_racy else "race-free"


def _summary_row(group: str, members: list[Verdicts], is_racy: bool) -> tuple[str | int, ...]:
    chosen = [each for each in members if each.subject.is_racy == is_racy]
    found = (sum(each.races[rule] > 0 for each in chosen) for rule in ORACLE_RULES)
    return group, _meaning(is_racy), len(chosen), *found


def _group_table(group: str, members: list[Verdicts]) -> Table:
    apart = [f"{rule}, listed apart" for rule in OracleRule]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            each.subject.name, _meaning(each.subject.is_racy), *each.races.values(),
            *(each.strong[rule] for rule in OracleRule),
        )
        for each in members
    )  # fmt: skip
    return Table(
        group.lower().replace(" ", "-"), f"Different races by rule: {group}",
        "Races of different instructions, kind, relation of threads and memory; all schedules.",
        ("program", "meant", *ORACLE_RULES, *apart), rows,
    )  # fmt: skip
