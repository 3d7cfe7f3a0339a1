"""Racetrap's verdicts and results of the packed programs and kernels."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from racetrap.golden_model.events import Geometry
from racetrap.golden_model.ptx_memory_model.operational import RandomChoices
from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.executor.machine.warp_schedulers import WARP_SCHEDULERS
from racetrap.sim.gpu.ptx.module import Module
from racetrap.sim.gpu.ptx.parser import parse_ptx
from racetrap.sim.gpu.stress.search import random_rates
from racetrap.sim.gpu.stress.subject import settings_of
from racetrap.verdict.gpu.trace_check import TraceCheck
from racetrap.verdict.line_pairs import LinePair
from tests.cuda_verdicts import PROGRAMS as CUDA_PROGRAMS
from tests.cuda_verdicts import check_source
from tests.support.gpu.comparison.jobs import Job, run_job
from tests.support.gpu.comparison.litmus_ptx import LitmusKernel
from tests.support.gpu.comparison.packing import kernel_text, suite_jobs
from tests.support.gpu.comparison.results import digest
from tests.support.gpu.cures.programs import PROGRAMS as CURE_PROGRAMS
from tests.support.gpu.cures.programs import racy_programs, run_together

#: Room for all blocks of a kernel at once, on several SMs.
_GEOMETRY = Geometry(sm_count=4, blocks_per_sm=8, warps_per_sm=64)
#: Nothing that is compared takes longer, in steps of warps.
_INSTRUCTIONS, _STALLED = 300_000, 3000
#: Random schedules, and runs with weak memory, that are made if the GPU shows what others do not.
_RANDOM_RUNS, _WEAK_RUNS = 150, 150
#: Bytes between the instances of a litmus test.
_STRIDE = 16
Settings = dict[str, Any]


def final_memory(job: Job, module: Module, **settings: Any) -> str:
    """Contents of all buffers after a run, as the GPU's driver prints them.

    Raises
    ------
    ExecutionError
        If a launch does not end.
    """
    device = Device(
        _GEOMETRY, write=lambda text: None, instruction_limit=_INSTRUCTIONS,
        stall_limit=_STALLED, **settings,
    )  # fmt: skip
    return run_job(job, module, device)


def schedules() -> Iterator[Settings]:
    """Settings of runs with sequentially consistent memory, the least unusual first."""
    for independent in (False, True):
        for scheduler in WARP_SCHEDULERS:
            yield {"scheduler": scheduler, "independent_threads": independent}
    for seed in range(2, _RANDOM_RUNS):
        yield {"scheduler": "random", "seed": seed, "independent_threads": seed % 2 == 0}


def weak_schedules() -> Iterator[Settings]:
    """Settings of runs in PTX's memory model."""
    for seed in range(_WEAK_RUNS):
        choices = RandomChoices(seed, random_rates(seed))
        yield {"memory": settings_of("views", choices), "independent_threads": seed % 2 == 0}


def shown(job: Job, module: Module, wanted: Iterable[str]) -> dict[str, str]:
    """Final memories of runs until all wanted ones are shown, each with the memory that first
    shows it: ``sequential`` or ``views``."""
    found: dict[str, str] = {}
    first = len(WARP_SCHEDULERS)
    runs: tuple[tuple[str, Callable[[], Iterator[Settings]]], ...] = (
        ("sequential", schedules), ("views", weak_schedules),
    )  # fmt: skip
    for memory, settings in runs:
        for number, each in enumerate(settings()):
            if found.keys() >= set(wanted) and number >= first:
                return found
            try:
                found.setdefault(digest(final_memory(job, module, **each)), memory)
            except ExecutionError:  # lanes in lockstep, or a warp before all others, wait for ever
                continue
    return found


def kernel_results(gpu: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of each kernel how many final memories the executor shows, and which of the GPU's it
    shows only with weak memory, or not at all."""
    for job in suite_jobs():
        if job.name not in gpu:
            continue
        wanted = gpu[job.name]["states"]
        found = shown(job, kernels_of(job.source), wanted)
        result: dict[str, Any] = {"racy": job.is_racy, "states": len(found)}
        weak = [each for each in wanted if found.get(each) == "views"]
        missing = [each for each in wanted if each not in found]
        yield (
            job.name,
            result | {key: each for key, each in (("weak", weak), ("missing", missing)) if each},
        )


@cache
def kernels_of(source: str) -> Module:
    """The kernels of a job's source."""
    return parse_ptx(kernel_text(source), source)


def lines_of(pairs: Iterable[LinePair]) -> list[list[str]]:
    """Pairs of lines, as the sanitizer names them, with the memory."""
    found = set()
    for pair in pairs:
        places = sorted(Path(side.in_own_code.place).name for _, side in pair.first.sides)
        found.add((*places, pair.first.details["space"]))
    return [list(each) for each in sorted(found)]


def program_results() -> Iterator[tuple[str, dict[str, Any]]]:
    """Of each program its races, and whether its own check fails in the executor."""
    every = [program for programs in CURE_PROGRAMS.values() for program in programs]
    for is_cured in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            run = run_together(every, Path(folder), is_cured=is_cured, independent_threads=True)
            check = TraceCheck()
            check.add(run.run.trace)
            races = racy_programs(check.pairs, run)
        for program in every:
            if program.text or not is_cured:
                name = f"cured/{program.name}" if is_cured else f"{program.folder}/{program.name}"
                yield (
                    name,
                    {
                        "races": lines_of(races.get(program.name, ())),
                        "wrong": program.name in run.wrong,
                    },
                )
    for name, source in CUDA_PROGRAMS.items():
        for form, define in (("free", ()), ("racy", ("RACY",))):
            with tempfile.TemporaryDirectory() as folder:
                check, _ = check_source(
                    source, CompilerOptions(tuple(f"-D{name}" for name in define)), Path(folder)
                )
            yield (
                f"programs/{name}/{form}",
                {
                    "races": lines_of(check.traces.pairs),
                    "wrong": bool(check.runs[0].status),
                },
            )


def litmus_outcomes(kernel: LitmusKernel, seed: int) -> set[tuple[int, ...]]:
    """What the instances of a litmus kernel observe in a run of the executor."""
    device = Device(
        _GEOMETRY, scheduler="random", seed=seed, independent_threads=True,
        write=lambda text: None,
    )  # fmt: skip
    groups = 1 if kernel.instances > 1 else 4
    count, blocks, width = groups * kernel.instances, groups * kernel.blocks, len(kernel.columns)
    region = count * _STRIDE + 64
    contents = np.zeros(region * max(1, len(kernel.variables)) + 64, np.uint8)
    for number, (size, value) in enumerate(kernel.variables):
        for instance in range(count):
            place = number * region + instance * _STRIDE
            contents[place : place + size] = list(value.to_bytes(size, "little"))
    order = np.arange(blocks, dtype=np.uint32)
    memory, results, counters, places, scratch = (
        device.allocate(each) for each in (
            contents, np.full(count * max(width, 1), -1, np.int64), np.zeros(64, np.uint32),
            order if kernel.cluster > 1 else order[::-1].copy(), np.zeros(1 << 18, np.uint32),
        )
    )  # fmt: skip
    delay, flags, preload, stress = 7, 7 if kernel.instances > 1 else 6, 0xFF, 0
    device.launch(
        parse_ptx(kernel.text, kernel.name), "litmus", blocks, kernel.threads,
        [memory, results, counters, places, scratch, groups, _STRIDE, region, seed, delay, flags,
         preload, stress],
    )  # fmt: skip
    observed = device.read(results, "u8", count * width).reshape(count, width)
    contents = device.read(memory, "u1", len(contents))

    def value(instance: int, column: int) -> int:
        variable = kernel.columns[column][1]
        if variable < 0:
            return int(observed[instance, column])
        place = variable * region + instance * _STRIDE
        size = kernel.variables[variable][0]
        return int.from_bytes(contents[place : place + size].tobytes(), "little")

    return {tuple(value(instance, column) for column in range(width)) for instance in range(count)}
