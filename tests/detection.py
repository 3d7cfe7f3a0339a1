"""Detection by causality, ScoRD and HiRace in suites of programs, against the exact judge.

``python -m tests.detection [SUITE ...] [--traces N] [--seed N]`` prints the table, with the racy
programs that each detector misses.

Ref: ScoRD (ISCA'20) Section V; HiRace (SC'24); BARRACUDA (PLDI'17) Section 6.1.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any, NamedTuple

import numpy as np

from racetrap.evaluation.scord import programs
from racetrap.generators.presets import find_preset
from racetrap.golden_model.events import (
    USUAL_GEOMETRY,
    DataRegion,
    EventKind,
    MemoryOrder,
    TraceHeader,
)
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.trace import Trace
from racetrap.sim.cosim.scord.suite import suite_runs
from racetrap.sim.gpu.suites.concurrency.cases import CASES
from racetrap.sim.gpu.suites.concurrency.runner import capture
from racetrap.sim.gpu.suites.micro.program import program_region
from racetrap.verdict.gpu.fit import region_of
from racetrap.verdict.hirace import findings as hirace
from racetrap.verdict.scord import findings as scord
from tests.support.causality.judged import UNLIMITED, Detects, causality, compare, verdict_on
from tests.support.causality.random_traces import SOURCES
from tests.support.gpu.construct_verdicts import SCHEDULES
from tests.support.gpu.constructs.cases import GROUPS, run_kernel

_SCHEDULES = 3
_REGION_LOG2 = 12
#: What orders accesses, and HiRace does not know.
_UNKNOWN = (EventKind.FENCE, EventKind.BARRIER_ARRIVE, EventKind.PARTIAL_BARRIER)


def _scord(trace: Trace) -> Iterable[Any]:
    params: Any = find_preset("scord-nocache").params
    return scord.find_races(trace, params, region_of(trace))[1]


def _hirace(trace: Trace) -> Iterable[Any]:
    params: Any = find_preset("hirace").params
    return hirace.find_races(trace, params)[1]


#: Detectors that are compared: causality without limits, with an entry for each word, and as it is.
DETECTORS: dict[str, Detects] = {
    "causality-unlimited": causality(**UNLIMITED),
    "causality-nocache": causality(),
    "causality": causality(ratio=32),
    "scord-nocache": _scord,
    "hirace": _hirace,
}


class Program(NamedTuple):
    """A program: its runs, and whether it is racy by other rules than the judge's."""

    name: str
    traces: Iterable[Trace]
    racy: bool | None = None


Programs = Iterator[Program]


@dataclass
class Row:
    """Programs with a report, by what the judge calls them.

    Parameters
    ----------
    racy, found : int
        Racy programs, and those of them with a report.
    race_free, reported : int
        Race-free programs, and those of them with a report.
    ordered, strong : int
        Pairs of instructions that are reported and ordered, or unordered but free to conflict.
    missed, wrong : list of str
        Names of racy programs without a report, and of those with an ordered pair.
    """

    racy: int = 0
    found: int = 0
    race_free: int = 0
    reported: int = 0
    ordered: int = 0
    strong: int = 0
    missed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


# Suites -----------------------------------------------------------------------------------


def constructs(group: str | None = None, *, plain: bool = False) -> Programs:
    """The suite of constructs.

    Parameters
    ----------
    group : str, optional
        Only this group of the suite.
    plain : bool
        Only kernels that order accesses by barriers of all warps of a block, barriers of a warp
        and atomics alone, as far as their runs show.
    """
    for title, pairs in GROUPS.items():
        for pair in pairs if group in (None, title) else ():
            for kernel in (pair.free, pair.racy):
                traces = [run_kernel(pair, kernel, *schedule).trace for schedule in SCHEDULES]
                if not plain or _is_plain(traces[0]):
                    yield Program(kernel, traces)


def _is_plain(trace: Trace) -> bool:
    events = trace.events
    is_unknown = np.isin(events["kind"], [int(kind) for kind in _UNKNOWN])
    is_access = events["kind"] < EventKind.ATOMIC
    is_strong = is_access & ((events["strong"] != 0) | (events["order"] != MemoryOrder.IMPLIED))
    return not (is_unknown | is_strong).any()


def micro_benchmarks(schedules: int = 4, *, by_paper: bool = False) -> Programs:
    """The ScoR micro-benchmarks, racy or not by the judge, or by the paper."""
    region = program_region()
    header = TraceHeader(
        geometry=USUAL_GEOMETRY, region=DataRegion(region.data_base, region.size_log2)
    )
    runs: dict[str, list[Trace]] = {}
    racy = {}
    for run in suite_runs(ScordParams(), schedules, 1):
        racy[run.benchmark.name] = run.benchmark.racy
        runs.setdefault(run.benchmark.name, []).append(Trace.from_events(header, run.events()))
    for name, traces in runs.items():
        yield Program(name, traces, racy[name] if by_paper else None)


def concurrency() -> Programs:
    """The concurrency suite."""
    for name, case in CASES.items():
        yield Program(name, (capture(case, *schedule) for schedule in SCHEDULES))


def applications(size: str) -> Programs:
    """The applications, race-free and with each switch alone."""
    for build in programs.applications(all_together=False):
        schedules = (programs.Schedule(number, 1) for number in range(_SCHEDULES))
        yield Program(
            build.name,
            (programs.trace_of(build, size, each, 1, _REGION_LOG2) for each in schedules),
        )


def random_traces(source: str, traces: int, seed: int) -> Programs:
    """Random traces, each a program: of this seed and those after it."""
    made = (
        Program(f"{each}.{number}", (trace,))
        for each in count(seed)
        for number, trace in enumerate(SOURCES[source](each))
    )
    return islice(made, traces)


#: Programs by suite, of so many traces from a seed where they are random.
SUITES: dict[str, Callable[[int, int], Programs]] = {
    "constructs": lambda traces, seed: constructs(),
    "constructs, plain": lambda traces, seed: constructs(plain=True),
    "micro-benchmarks": lambda traces, seed: micro_benchmarks(),
    "micro-benchmarks, paper": lambda traces, seed: micro_benchmarks(by_paper=True),
    "concurrency": lambda traces, seed: concurrency(),
    "applications, tiny": lambda traces, seed: applications("tiny"),
    "applications, small": lambda traces, seed: applications("small"),
    **{
        source: lambda traces, seed, source=source: random_traces(source, traces, seed)
        for source in SOURCES
    },
}


# Counting ---------------------------------------------------------------------------------


def rows(suite: Iterable[Program], detectors: Iterable[str] = tuple(DETECTORS)) -> dict[str, Row]:
    """Count the programs of a suite for some detectors."""
    counted = {name: Row() for name in detectors}
    for program in suite:
        is_racy = False
        reports = dict.fromkeys(counted, False)
        ordered = dict.fromkeys(counted, 0)
        for trace in program.traces:
            verdict = verdict_on(trace)
            is_racy |= bool(verdict.races)
            for name, row in counted.items():
                each = compare(trace, verdict, DETECTORS[name])
                reports[name] |= bool(each.reported)
                ordered[name] += len(each.ordered)
                row.strong += len(each.reported_strong)
        is_racy = is_racy if program.racy is None else program.racy
        for name, row in counted.items():
            _count(row, program.name, is_racy, reports[name], ordered[name])
    return counted


def _count(row: Row, name: str, is_racy: bool, has_report: bool, ordered: int) -> None:
    row.ordered += ordered
    if ordered:
        row.wrong.append(name)
    if is_racy:
        row.racy += 1
        row.found += has_report
        if not has_report:
            row.missed.append(name)
    else:
        row.race_free += 1
        row.reported += has_report


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {', '.join(SUITES)}")
    parser.add_argument("--detector", action="append", choices=DETECTORS, help="only this one")
    parser.add_argument("--traces", type=int, default=1000, help="of each random suite")
    parser.add_argument("--seed", type=int, default=0, help="first seed of random suites")
    arguments = parser.parse_args()
    unknown = set(arguments.suites) - set(SUITES)
    if unknown:
        parser.error(f"Suite {min(unknown)!r} is unknown: name one of {', '.join(SUITES)}")
    print(f"{'programs':24} {'detector':20} racy found       race-free reported  ordered  strong")
    for suite in arguments.suites or SUITES:
        programs = SUITES[suite](arguments.traces, arguments.seed)
        for name, row in rows(programs, arguments.detector or DETECTORS).items():
            _print(suite, name, row)


def _print(suite: str, detector: str, row: Row) -> None:
    print(
        f"{suite:24} {detector:20} {row.found:6} of {row.racy:6} {row.reported:8} of "
        f"{row.race_free:6} {row.ordered:8} {row.strong:7}",
        flush=True,
    )
    for title, names in (("missed", row.missed), ("ordered pairs in", row.wrong)):
        if names and not detector.startswith(("scord", "hirace")):
            more = f" and {len(names) - 20} more" if len(names) > 20 else ""
            print(f"    {title}: {', '.join(names[:20])}{more}")


if __name__ == "__main__":
    main()
