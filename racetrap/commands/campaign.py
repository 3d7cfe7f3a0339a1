"""`racetrap campaign`: volume through hardware and golden model, every step compared."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import asdict
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress

from racetrap.generators.presets import PRESETS, find_preset
from racetrap.output import (
    ExitStatus,
    fail,
    input_errors,
    json_option,
    print_table,
    report_console,
    write_json,
)
from racetrap.sim.build_cache import BuildError
from racetrap.sim.fast.build import FastModel, build_fast
from racetrap.sim.fast.cases import Case, run_cases
from racetrap.sim.fast.scord.campaign import CaseResult, run_case
from racetrap.sim.fast.scord.suite import SuiteResult, run_micro_benchmark
from racetrap.sim.gpu.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.sim.tools import missing_tools
from racetrap.tb.scord.coverage import Coverage

__all__ = ["command"]

_SUITES = ("scor-micro",)
_SUITE_PRESET = "scord"
#: The tables are not squeezed into a narrow terminal or log.
_TABLE_WIDTH = 120


def _summary(results: Sequence[CaseResult], workers: int) -> dict[str, Any]:
    """The table's row of one preset."""
    accesses = sum(result.accesses for result in results)
    cycles = sum(result.cycles for result in results)
    seconds = sum(result.seconds for result in results) / workers
    return {
        "preset": results[0].case.model.preset,
        "cases": len(results),
        "accesses": accesses,
        "differences": sum(bool(result.difference) for result in results),
        "races": sum(result.races for result in results),
        "cycles": cycles,
        "accesses_per_cycle": round(accesses / max(cycles, 1), 3),
        "accesses_per_second": round(accesses / seconds),
        "seed": results[0].case.seed,
    }


def _volume(
    models: Sequence[FastModel],
    accesses: int,
    seed: int,
    pool: Executor,
    workers: int,
    bar: Progress,
) -> list[list[CaseResult]]:  # fmt: skip
    """Results of all cases, by preset."""
    everything = []
    for model in models:
        task = bar.add_task(model.preset, total=accesses)
        results = []
        for result in run_cases(
            run_case, model, seed=seed, volume=accesses, pool=pool, width=workers,
            make_observer=Coverage,
        ):  # fmt: skip
            results.append(result)
            bar.advance(task, result.accesses)
        everything.append(results)
    return everything


def _report_volume(
    console: Console, everything: Sequence[Sequence[CaseResult]], workers: int
) -> tuple[dict[str, Any], bool]:
    """Print the table and the differences; the same for JSON, and whether there are any."""
    rows = [_summary(results, workers) for results in everything]
    columns = [name.replace("_per_", "/").replace("_", " ") for name in rows[0]]
    print_table(
        console, "Hardware against golden model", columns, [list(row.values()) for row in rows]
    )
    results = [result for results in everything for result in results]
    coverage = Coverage(results[0].case.model.params)
    for result in results:
        if isinstance(result.observer, Coverage):
            coverage.merge(result.observer.to_json())
    console.print(f"{len(coverage.to_json())} functional coverage bins hit.")
    for result in results:
        if result.difference:
            case, preset = result.case, result.case.model.preset
            console.print(
                f"{preset}, case {case.number}: {result.difference}\n  rerun: racetrap "
                f"campaign --preset {preset} --seed {case.seed} --case {case.number}",
                markup=False,
            )
    summary = {"presets": rows, "coverage": coverage.to_json()}
    return summary, any(result.difference for result in results)


def _suite(
    model: FastModel, schedules: int, seed: int, pool: Executor, bar: Progress
) -> list[SuiteResult]:
    """Results of every micro-benchmark."""
    futures = [
        pool.submit(run_micro_benchmark, model, name, schedules=schedules, seed=seed)
        for name in MICRO_BENCHMARKS
    ]
    return [future.result() for future in bar.track(futures, description="scor-micro")]


def _report_suite(
    console: Console, preset: str, results: Sequence[SuiteResult]
) -> tuple[dict[str, Any], bool]:
    """As ``_report_volume``."""
    rows = [
        [result.name, "race" if result.racy else "none", result.runs, result.right,
         result.cycles, result.difference]
        for result in results
    ]  # fmt: skip
    columns = ["micro-benchmark", "expected", "runs", "right", "cycles", "difference"]
    print_table(console, f"ScoR micro-benchmarks on {preset}", columns, rows)
    right = sum(result.runs == result.right for result in results)
    console.print(f"{right} of {len(results)} are right under every schedule.")
    summary = {"preset": preset, "suite": [asdict(result) for result in results]}
    return summary, right != len(results)


@click.command("campaign")
@click.option("--preset", "name", help="Preset; all without it (a suite: the paper's).")
@click.option(
    "--accesses", default=1_000_000, show_default=True, type=click.IntRange(1),
    help="Accesses to compare for each preset.",
)  # fmt: skip
@click.option("--seed", default=1, show_default=True, help="Seed of everything random.")
@click.option("--case", "number", type=click.IntRange(0), help="Run only this case of a preset.")
@click.option(
    "--configurations", type=click.IntRange(1),
    help="Run this many random configurations instead of the presets: random-1, random-2 ...",
)  # fmt: skip
@click.option("--suite", type=click.Choice(_SUITES), help="Run a suite instead of random volume.")
@click.option(
    "--schedules", default=200, show_default=True, type=click.IntRange(0),
    help="Random schedules of each program of a suite, for each placement of its blocks.",
)  # fmt: skip
@click.option(
    "--workers", default=2, show_default=True, type=click.IntRange(1, 64), help="Processes."
)
@json_option
def command(
    name: str | None, accesses: int, seed: int, number: int | None, configurations: int | None,
    suite: str | None, schedules: int, workers: int, json_file: str | None,
) -> None:  # fmt: skip
    """Compare hardware and golden model on random volume, or on a suite.

    Exit status 0 if they agree everywhere (races or not), 3 if they differ; each difference
    is printed with the line that reruns its case alone.
    """
    with input_errors():
        if number is not None and name in (None, "all"):
            raise ValueError("Option --case must come with --preset")
        if configurations and (name or suite):
            raise ValueError("Option --configurations must come without --preset and --suite")
        if configurations:
            presets = [find_preset(f"random-{k + 1}") for k in range(configurations)]
        elif suite:
            presets = [find_preset(_SUITE_PRESET if name in (None, "all") else name)]
        else:
            presets = list(PRESETS.values()) if name in (None, "all") else [find_preset(name)]
    if missing := missing_tools():
        fail(missing[0], ExitStatus.FAILED)
    console, terminal = report_console(json_file), Console(stderr=True)
    console.width = max(console.width, _TABLE_WIDTH)
    with (
        ProcessPoolExecutor(workers) as pool,
        Progress(console=terminal, transient=True, disable=not terminal.is_terminal) as bar,
    ):
        try:
            models = [
                build_fast(preset.name, preset.params)
                for preset in bar.track(presets, description="Building")
            ]
        except BuildError as error:
            fail(error, ExitStatus.FAILED)
        if suite:
            results = _suite(models[0], schedules, seed, pool, bar)
            summary, differs = _report_suite(console, models[0].preset, results)
        elif number is not None:
            case = Case(models[0], seed, number)
            summary, differs = _report_volume(console, [[run_case(case, Coverage)]], 1)
        else:
            everything = _volume(models, accesses, seed, pool, workers, bar)
            summary, differs = _report_volume(console, everything, workers)
    write_json(json_file, summary)
    raise SystemExit(ExitStatus.FAILED if differs else ExitStatus.NO_RACE)
