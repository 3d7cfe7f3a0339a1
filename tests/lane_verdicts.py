"""Verdicts on the suites of kernels with the lanes of a warp in lockstep, and independent.

``python -m tests.lane_verdicts`` prints each program whose verdict changes; ``docs/oracle.md`` has
the table, and why.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from racetrap.evaluation.scord import programs
from racetrap.golden_model.events import USUAL_GEOMETRY
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.launch.capture import capture
from racetrap.sim.gpu.launch.launch_file import LaunchSpec
from racetrap.sim.gpu.launch.nvrtc import compile_cuda
from racetrap.sim.gpu.oracle import JUDGE, run_oracle
from racetrap.sim.gpu.ptx.module import Module
from racetrap.sim.gpu.ptx.parser import parse_ptx
from racetrap.sim.gpu.suites.concurrency.cases import CASES
from racetrap.sim.gpu.suites.concurrency.runner import GEOMETRY, run_case
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.sim.gpu.suites.micro.program import VARIABLES
from racetrap.sim.gpu.suites.weak_memory.launches import launch_of
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS
from racetrap.sim.gpu.suites.weak_memory.runner import kernels_of
from racetrap.sim.gpu.workloads.registry import WORKLOADS
from tests.support.gpu.constructs.cases import GROUPS, run_kernel
from tests.support.gpu.cure_sources import launch_of as launch_of_words
from tests.support.gpu.micro_sources import micro_source

#: What a run with a warp scheduler, its seed, and whether lanes are independent, leaves.
_Run = Callable[[str, int, bool], Trace]
_STALL_LIMIT = 20_000


class Subject(NamedTuple):
    """A program of a suite."""

    name: str
    run: _Run


def captured(
    module: Module, launch: LaunchSpec, scheduler: str, seed: int, independent: bool
) -> Trace:
    """Trace of a launch.

    Raises
    ------
    ExecutionError
        If it does not end.
    """
    scheduled = {"independent_threads": independent, "scheduler": scheduler, "seed": seed}
    run = capture(module, launch.model_copy(update=scheduled))
    if run.fault is not None:
        raise run.fault
    return run.trace


def constructs() -> Iterator[Subject]:
    """Kernels of the suite of constructs."""
    for pair in (pair for pairs in GROUPS.values() for pair in pairs):
        for name in (pair.free, pair.racy):

            def run(scheduler: str, seed: int, independent: bool, pair=pair, name=name) -> Trace:
                launch = pair.model_copy(update={"independent": independent})
                return run_kernel(launch, name, scheduler, seed, stall_limit=_STALL_LIMIT).trace

            yield Subject(name, run)


def micro() -> Iterator[Subject]:
    """Micro-benchmarks, as CUDA: one lane of each warp acts."""
    for program in MICRO_BENCHMARKS.values():
        launch = launch_of_words(
            "k", program.blocks, 32 * program.warps_per_block, **dict.fromkeys(VARIABLES, 1)
        )
        module = parse_ptx(compile_cuda(micro_source(program), "k.cu"), "k.cu")

        def run(
            scheduler: str, seed: int, independent: bool, module=module, launch=launch
        ) -> Trace:
            return captured(module, launch, scheduler, seed, independent)

        yield Subject(program.name, run)


def concurrency() -> Iterator[Subject]:
    """Small kernels."""
    for case in CASES.values():

        def run(scheduler: str, seed: int, independent: bool, case=case) -> Trace:
            device = Device(
                GEOMETRY, scheduler=scheduler, seed=seed, independent_threads=independent,
                stall_limit=_STALL_LIMIT,
            )  # fmt: skip
            run_case(case, device)
            return device.trace(case.name)

        yield Subject(case.name, run)


def weak_memory() -> Iterator[Subject]:
    """Variants of the programs for weak memory."""
    for program in PROGRAMS.values():
        for variant in program.variants:

            def run(
                scheduler: str, seed: int, independent: bool, program=program, variant=variant
            ) -> Trace:
                launch = launch_of(program, variant)
                return captured(kernels_of(program), launch, scheduler, seed, independent)

            yield Subject(program.kernel(variant), run)


def applications() -> Iterator[Subject]:
    """The applications of ScoR, race-free and with each switch alone."""
    for build in programs.applications(all_together=False):

        def run(scheduler: str, seed: int, independent: bool, build=build) -> Trace:
            device = Device(
                USUAL_GEOMETRY, scheduler=scheduler, seed=seed, independent_threads=independent
            )
            WORKLOADS[build.program].run(device, "tiny", 1, build.switches or {""} - {""})
            return device.trace(build.name)

        yield Subject(build.name, run)


SUITES = {
    "constructs": constructs,
    "micro-benchmarks": micro,
    "small kernels": concurrency,
    "programs for weak memory": weak_memory,
    "ScoR applications, tiny": applications,
}


#: Warp schedulers and seeds.
SCHEDULES = (("round-robin", 1), ("newest-first", 1))


def verdict(run: _Run, independent: bool) -> str:
    """Verdict on a program over all schedules: race-free, the classes of its races, or how it
    ends otherwise."""
    found: set[str] = set()
    for scheduler, seed in SCHEDULES:
        try:
            trace = run(scheduler, seed, independent)
        except ExecutionError as error:
            return "does not end" if "lock" in str(error) else f"fault: {error}"
        result = run_oracle(trace, JUDGE, independent)
        found |= {race.race_class.value for race in result.races}
        if result.barrier_divergences:
            found.add("barrier divergence")
    return ", ".join(sorted(found)) or "race-free"


def changes(subjects: Iterable[Subject]) -> tuple[Counter[tuple[str, str]], list[str]]:
    """Numbers of verdicts, in lockstep and independent, and a line for each that changes."""
    counts: Counter[tuple[str, str]] = Counter()
    lines = []
    for subject in subjects:
        before, after = (verdict(subject.run, independent) for independent in (False, True))
        counts[before, after] += 1
        if before != after:
            lines.append(f"{subject.name}: {before} -> {after}")
    return counts, lines


def main(*names: str) -> None:
    """Print the changes of some suites, or of all."""
    for name in names or SUITES:
        counts, lines = changes(SUITES[name]())
        print(f"{name}: {counts.total()} programs, {counts.total() - len(lines)} alike", flush=True)
        print(*(f"  {line}" for line in lines), sep="\n", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
