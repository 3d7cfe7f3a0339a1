"""Suites of programs of a GPU, each program with its runs: handwritten, applications, random."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice, starmap
from typing import NamedTuple

import numpy as np

from racetrap.evaluation.scord import programs
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
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.sim.gpu.suites.micro.program import program_region
from tests.support.causality.random_traces import SOURCES
from tests.support.gpu.construct_verdicts import SCHEDULES
from tests.support.gpu.constructs.cases import GROUPS, run_kernel

_SCHEDULES = 3
#: Log2 of the bytes that applications monitor at least, and in a region no larger than their data.
_REGION_LOG2, _TIGHT_LOG2 = 12, 0
#: What orders accesses, and HiRace does not know.
_UNKNOWN = (EventKind.FENCE, EventKind.BARRIER_ARRIVE, EventKind.PARTIAL_BARRIER)


class Program(NamedTuple):
    """A program: its runs, and whether it is racy by other rules than the judge's."""

    name: str
    traces: Iterable[Trace]
    racy: bool | None = None


Programs = Iterator[Program]


@dataclass(frozen=True)
class Suite:
    """A suite of programs, which are measured in parts.

    Parameters
    ----------
    programs : callable
        Its programs from one place to before another: seeds of random suites, else numbers.
    step : int
        Places of a part.
    count : int, optional
        How many programs there are; none of a random suite, each trace of which is one.
    """

    programs: Callable[[int, int], Programs]
    step: int
    count: int | None = None


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
                run = partial(run_kernel, pair, kernel)
                # Nothing runs before its traces are asked for.
                traces = (made.trace for made in starmap(run, SCHEDULES))
                if not plain:
                    yield Program(kernel, traces)
                elif _is_plain((kept := list(traces))[0]):
                    yield Program(kernel, kept)


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


def _concurrency() -> Programs:
    for name, case in CASES.items():
        yield Program(name, (capture(case, *schedule) for schedule in SCHEDULES))


def _applications(size: str, region_log2: int) -> Programs:
    """The applications, race-free and with each switch alone."""
    schedules = [programs.Schedule(number, 1) for number in range(_SCHEDULES)]
    for build in programs.applications(all_together=False):
        traces = map(partial(programs.trace_of, build, size, seed=1, region_log2=region_log2),
                     schedules)  # fmt: skip
        yield Program(build.name, traces)


def _fixed(make: Callable[[], Programs], count: int, step: int) -> Suite:
    return Suite(lambda first, last: islice(make(), first, last), step, count)


def _random(source: str) -> Suite:
    def made(first: int, last: int) -> Programs:
        for seed in range(first, last):
            for number, trace in enumerate(SOURCES[source](seed)):
                yield Program(f"{seed}.{number}", (trace,))

    return Suite(made, 250)


def _of_applications(size: str, region_log2: int = _REGION_LOG2) -> Suite:
    count = len(list(programs.applications(all_together=False)))
    return _fixed(lambda: _applications(size, region_log2), count, 1)


_KERNELS = 2 * sum(map(len, GROUPS.values()))
#: Suites by name, in the order of the table.
SUITES: dict[str, Suite] = {
    "constructs": _fixed(constructs, _KERNELS, _KERNELS),
    "constructs, plain": _fixed(lambda: constructs(plain=True), _KERNELS, _KERNELS),
    "micro-benchmarks": _fixed(micro_benchmarks, len(MICRO_BENCHMARKS), 100),
    "micro-benchmarks, paper": _fixed(
        lambda: micro_benchmarks(by_paper=True), len(MICRO_BENCHMARKS), 100
    ),
    "concurrency": _fixed(_concurrency, len(CASES), 20),
    "applications, tiny": _of_applications("tiny"),
    "applications, tiny, tight": _of_applications("tiny", _TIGHT_LOG2),
    "applications, small": _of_applications("small"),
    **{source: _random(source) for source in SOURCES},
}
