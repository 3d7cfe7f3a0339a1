"""Sources of kernels for trials of edits, compiled by the library of the compiler: ten times as
fast as by the compiler itself, and without host code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from racetrap.sim.gpu.cuda.context import RunSettings
from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
from racetrap.sim.gpu.cuda.runtime_library import runtime_library
from racetrap.sim.gpu.cuda.toolkit import compile_program
from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.launch.launch_file import LaunchSpec
from racetrap.sim.gpu.launch.nvrtc import ARCHITECTURE, CudaError, compile_cuda
from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.parser import parse_ptx
from racetrap.sim.gpu.suites import weak_memory
from racetrap.sim.gpu.suites.micro.program import VARIABLES, MicroProgram
from racetrap.sim.gpu.suites.weak_memory.launches import launch_of as weak_launch
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS as WEAK_PROGRAMS
from racetrap.sim.gpu.suites.weak_memory.programs import Program as WeakProgram
from racetrap.sim.gpu.suites.weak_memory.programs import Variant
from racetrap.verdict.gpu.cure.cures import FindingCures
from racetrap.verdict.gpu.cure.programs import KernelProgram, program_sources
from racetrap.verdict.gpu.cure.trials import Program, Sources
from racetrap.verdict.gpu.trace_check import TraceCheck
from tests.support.gpu.constructs import cases
from tests.support.gpu.constructs.cases import Pair
from tests.support.gpu.micro_sources import micro_source

#: Variants of the programs for weak memory that lack their acquires, all fences, or one of those
#: of ``scan``.
WEAK_CASES = [
    (program, variant) for program in WEAK_PROGRAMS.values() for variant in program.variants
    if variant.is_racy and variant.name in (
        ("no_f1", "no_f2", "no_f3", "no_acquire_tile", "no_acquire_grid")
        if program.name == "scan" else ("no_acquire", "no_fence")
    )
]  # fmt: skip
#: Runs in which races are looked for: of a suite's kernels, and of micro-benchmarks.
RUNS, MICRO_RUNS = range(4), range(8)
_CONSTRUCTS = Path(cases.__file__).parent
_WEAK_FOLDER = Path(weak_memory.__file__).parent
_FOLDER = re.compile(r'(\.file\s+\d+\s+")[^"]*/')


def launch_of(kernel: str, grid: Any, block: Any, **words: int) -> LaunchSpec:
    """A launch of a kernel whose arguments are buffers of words that are zero, lanes scheduled
    independently."""
    buffers = [{"buffer": "zeros", "type": "s32", "count": count} for count in words.values()]
    return LaunchSpec.model_validate({
        "kernel": kernel, "grid": grid, "block": block, "independent_threads": True,
        "gpu": {"sm_count": 2, "blocks_per_sm": 4, "warps_per_sm": 16},
        "stall_limit": 20_000, "instruction_limit": 200_000,
        "arguments": buffers,
    })  # fmt: skip


def sources_of(
    name: str, texts: Mapping[str, bytes], launch: LaunchSpec, architecture: str = ARCHITECTURE
) -> Sources:
    """Sources of a kernel: a file, and those that it includes, by name."""

    def compiler(folder: Path) -> Program | None:
        headers = {
            file: (folder / file).read_text(encoding="utf-8") for file in texts if file != name
        }
        text = (folder / name).read_text(encoding="utf-8")
        try:
            ptx = compile_cuda(text, name, headers=headers, architecture=architecture)
            return KernelProgram(parse_ptx(_FOLDER.sub(r"\1", ptx), name), launch)
        except (CudaError, PtxError, ExecutionError):
            return None

    return Sources(Path(), texts, compiler)


def construct_sources(pair: Pair) -> Sources:
    """Sources of the racy kernel of a pair of constructs."""
    name = f"{pair.source}.cu"
    texts = {path.name: path.read_bytes() for path in _CONSTRUCTS.glob("*.cuh")}
    texts[name] = (_CONSTRUCTS / name).read_bytes()
    number = re.search(r"_sm(\d+)$", pair.source)
    architecture = f"compute_{number[1]}" if number else ARCHITECTURE
    launch = launch_of(pair.racy, list(pair.grid), list(pair.block), data=1024, sync=64)
    return sources_of(name, texts, launch, architecture)


def micro_sources(program: MicroProgram) -> Sources:
    """Sources of a micro-benchmark, which is a table of instructions: here as CUDA."""
    launch = launch_of(
        "k", program.blocks, 32 * program.warps_per_block, **dict.fromkeys(VARIABLES, 1)
    )
    return sources_of("k.cu", {"k.cu": micro_source(program).encode()}, launch)


def weak_sources(program: WeakProgram, variant: Variant) -> Sources:
    """Sources of a variant of a program for weak memory."""
    names = f"{program.name}.cu", "common.cuh"
    texts = {name: (_WEAK_FOLDER / name).read_bytes() for name in names}
    return sources_of(names[0], texts, weak_launch(program, variant))


def program_settings(number: int) -> RunSettings:
    """Settings of the runs of whole programs, by their numbers."""
    return RunSettings(
        scheduler="random" if number else "round-robin", seed=number, independent_threads=True,
        output=2, stall_limit=50_000,
    )  # fmt: skip


def compiled_sources(source: Path, target: Path, options: CompilerOptions | None = None) -> Sources:
    """Sources of a whole program, which is compiled first."""
    used = options or CompilerOptions()
    compile_program([source], target, runtime_library(), used)
    return program_sources([source], [str(target)], used, program_settings)


def cures_of(sources: Sources, runs: range = RUNS) -> FindingCures:
    """Findings of sources in some runs, with their cures."""
    check = TraceCheck()
    with sources.compiled(()) as program:
        assert program is not None
        traces = [program.run(number)[0] for number in runs]
    for trace in traces:
        if trace is not None:
            check.add(trace)
    found = FindingCures(check, sources)
    words = [words for each in found.findings if each.cure for words in each.cure.words]
    print(f"{sources.trials} trials: {'; '.join(words)}")
    return found


def uncured(found: FindingCures) -> list[str]:
    """Reasons why findings have no cure."""
    return [each.cure.reason for each in found.findings if each.cure and not each.cure.edits]
