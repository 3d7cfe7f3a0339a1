"""Sources of kernels for trials of edits, compiled by the library of the compiler: ten times as
fast as by the compiler itself, and without host code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.launch.launch_file import LaunchSpec
from racetrap.sim.gpu.launch.nvrtc import ARCHITECTURE, CudaError, compile_cuda
from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.parser import parse_ptx
from racetrap.verdict.gpu.cure.programs import KernelProgram
from racetrap.verdict.gpu.cure.trials import Program, Sources

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
