"""Racy kernels and programs with the edits that racetrap proposes, on a GPU, too."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from racetrap.sim.gpu.cuda.program_run import run_program
from racetrap.sim.gpu.editing.edits import Edit
from racetrap.sim.gpu.executor.device import Machine
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.verdict.gpu.cure.programs import CudaProgram, KernelProgram
from racetrap.verdict.gpu.cure.trials import Sources
from racetrap.verdict.gpu.trace_check import TraceCheck
from tests.support.gpu.comparison.jobs import Job
from tests.support.gpu.comparison.ours import lines_of
from tests.support.gpu.comparison.packing import suite_jobs
from tests.support.gpu.constructs.cases import GROUPS
from tests.support.gpu.cure_sources import (
    MICRO_RUNS,
    RUNS,
    WEAK_CASES,
    compiled_sources,
    construct_sources,
    cures_of,
    micro_sources,
    uncured,
    weak_sources,
)
from tests.support.gpu.cures.programs import FOLDER
from tests.support.gpu.cures.programs import PROGRAMS as SMALL_PROGRAMS
from tests.support.gpu.on_gpu.measuring import Subject, measured, on_executor

#: Runs of a program on each side.
PROGRAM_RUNS = 3


class RacyKernel(NamedTuple):
    """A racy kernel of a suite.

    Parameters
    ----------
    sources : callable
        Makes its sources.
    job : Job
        How it is launched.
    runs : range
        Runs in which its races are looked for.
    """

    sources: Callable[[], Sources]
    job: Job
    runs: range = RUNS


@cache
def racy_kernels() -> dict[str, RacyKernel]:
    """Kernels whose races an edit may end, by their names in the suites."""
    jobs = {job.name: job for job in suite_jobs()}
    found = {}
    for pair in (pair for pairs in GROUPS.values() for pair in pairs):
        name = f"constructs/{pair.racy}"
        found[name] = RacyKernel(partial(construct_sources, pair), jobs[name])
    for program in MICRO_BENCHMARKS.values():
        name = f"micro/{program.name}".replace(" ", "_")
        (launch,) = jobs[name].launches
        job = jobs[name]._replace(launches=(" ".join(["k", *launch.split()[1:]]),))
        found[name] = RacyKernel(partial(micro_sources, program), job, MICRO_RUNS)
    for each, variant in WEAK_CASES:
        name = f"weak_memory/{each.kernel(variant)}"
        found[name] = RacyKernel(partial(weak_sources, each, variant), jobs[name])
    return found


def cured_names() -> list[str]:
    """Names of all that may be cured, and of the programs that are right."""
    programs = [each for group in SMALL_PROGRAMS.values() for each in group]
    return [*(f"{each.folder}/{each.name}" for each in programs), *racy_kernels()]


def cured_row(name: str, subject: Subject | None) -> dict[str, Any]:
    """What is found in a kernel or program without its races.

    Returns
    -------
    dict of str to object
        ``edits`` in words, and pairs of lines with a race on the executor (``ours``) and on the GPU
        (``gpu``), of a program also ``before``; or why it is ``uncured``.
    """
    kernel = racy_kernels().get(name)
    if kernel is None:
        return _program_row(name, subject)
    sources = kernel.sources()
    found = cures_of(sources, kernel.runs)
    if not found.findings or uncured(found):
        return {"uncured": uncured(found)}
    edits = found.together()
    with sources.compiled(edits) as program:
        assert isinstance(program, KernelProgram)
        module = program.module
    row = {"edits": [each.words for each in edits if each.words]}
    if subject:
        row["gpu"] = measured(kernel.job, module, subject)
    return row | {"ours": on_executor(kernel.job, module, False)}


def _program_row(name: str, subject: Subject | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="racetrap-") as folder:
        target = Path(folder) / "program"
        sources = compiled_sources(FOLDER / f"{name}.cu", target)
        row: dict[str, Any] = {"before": _on_both(sources, (), subject)}
        if name.startswith("right/"):
            return row
        found = cures_of(sources)
        if uncured(found):
            return row | {"uncured": uncured(found)}
        edits = found.together()
        row["edits"] = [each.words for each in edits if each.words]
        return row | _on_both(sources, edits, subject)


def _on_both(sources: Sources, edits: Sequence[Edit], subject: Subject | None) -> dict[str, Any]:
    """Pairs of lines that race on the executor and on the GPU, and of the latter how many runs were
    wrong."""
    with sources.compiled(edits) as program, open(os.devnull, "wb") as nowhere:
        assert isinstance(program, CudaProgram)
        found: dict[str, Any] = {}
        machines: dict[str, Machine | None] = {"ours": None}
        if subject:
            machines["gpu"] = subject.logged
        for side, machine in machines.items():
            check, wrong, problems = TraceCheck(), 0, set[str]()
            for number in range(PROGRAM_RUNS):
                settings = replace(program.settings(number), output=nowhere.fileno())
                if machine is not None:
                    settings = replace(settings, machine=machine, geometry=machine.geometry)
                done = run_program(program.command, settings)
                check.add(done.trace)
                wrong += bool(done.status)
                problems |= {*done.problems, *(each.fault for each in done.launches if each.fault)}
            found[side] = {"lines": lines_of(check.pairs), "wrong": wrong}
            if problems:
                found[side]["not_done"] = sorted(problems)
    return found
