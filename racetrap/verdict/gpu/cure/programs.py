"""Sources of kernels with a launch file, and of whole CUDA programs, for trials of edits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.cuda.context import RunSettings
from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
from racetrap.sim.gpu.cuda.program_run import ProgramError, run_program
from racetrap.sim.gpu.cuda.toolkit import ToolkitError, compile_ptx
from racetrap.sim.gpu.editing.edits import common_folder
from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.launch.capture import capture
from racetrap.sim.gpu.launch.launch_file import LaunchSpec
from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.module import Module
from racetrap.sim.gpu.ptx.parser import parse_ptx
from racetrap.sim.gpu.stress.kernel_subject import KernelSubject
from racetrap.sim.gpu.stress.program_subject import ProgramSubject
from racetrap.sim.gpu.stress.subject import Subject
from racetrap.sim.toml_file import TomlError
from racetrap.verdict.gpu.cure.trials import OUTSIDE, Program, Ran, Sources

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_FAULT, _RESULT, _END = "a fault", "another result", "no end"


def _wrong(trace: Trace, has_fault: bool, differs: bool) -> set[str]:
    seen = ((_FAULT, has_fault), (OUTSIDE, bool(trace.header.outside)), (_RESULT, differs))
    return {what for what, is_so in seen if is_so}


@dataclass(frozen=True)
class KernelProgram(Program):
    """Kernels with a launch file.

    Parameters
    ----------
    module : Module
        The kernels.
    launch : LaunchSpec
        Their launches.
    """

    module: Module
    launch: LaunchSpec

    def run(self, number: int, limit: int | None = None) -> Ran:
        try:
            done = capture(
                self.module, self.launch, number, instruction_limit=limit, keeps_going=True
            )
        except (ExecutionError, PtxError, TomlError):
            return Ran(None, {_END})
        wrong = _wrong(done.trace, bool(done.fault), bool(done.differences))
        return Ran(done.trace, wrong, None if done.hangs else done.stats.warp_instructions)

    def subject(self) -> Subject:
        return KernelSubject(self.module, self.launch)


def kernel_sources(path: Path, launch: LaunchSpec, options: CompilerOptions) -> Sources:
    """Sources of a kernel.

    Parameters
    ----------
    path : Path
        The CUDA source.
    launch : LaunchSpec
        Its launches.
    options : CompilerOptions
        How it is compiled.
    """
    within = options.within(path.parent.resolve())

    def compiler(folder: Path) -> Program | None:
        try:
            ptx = compile_ptx(folder / path.name, within, folder)
            return KernelProgram(parse_ptx(ptx, path.name), launch)
        except (ToolkitError, PtxError):
            return None

    return Sources(path.parent, _with_headers([path], path.parent), compiler)


@dataclass(frozen=True)
class CudaProgram(Program):
    """A whole program.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    settings : callable
        Settings of each run.
    """

    command: Sequence[str]
    settings: Callable[[int], RunSettings]

    def run(self, number: int, limit: int | None = None) -> Ran:
        settings = self.settings(number)
        if limit is not None:
            settings = replace(settings, instruction_limit=min(limit, settings.instruction_limit))
        try:
            done = run_program(self.command, settings)
        except ProgramError:
            return Ran(None, {_END})
        has_fault = any(launch.fault for launch in done.launches)
        wrong = _wrong(done.trace, has_fault, bool(done.status or done.problems))
        counts = [each.stats.warp_instructions for each in done.launches if each.stats]
        return Ran(done.trace, wrong, None if has_fault else max(counts, default=0))

    def subject(self) -> Subject:
        return ProgramSubject(self.command, replace(self.settings(0), keeps_going=False))


def program_sources(
    files: Sequence[Path], command: Sequence[str], options: CompilerOptions,
    settings: Callable[[int], RunSettings],
) -> Sources:  # fmt: skip
    """Sources of a program.

    Parameters
    ----------
    files : sequence of Path
        Its CUDA sources.
    command : sequence of str
        The program that was compiled from them, and its arguments: only kernels are compiled again.
    options : CompilerOptions
        How it is compiled.
    settings : callable
        Settings of each run, by its number.
    """
    files = [each.resolve() for each in files]
    folder = common_folder(files)
    within = options.within(*(each.parent for each in files))
    names = [each.relative_to(folder) for each in files]

    def compiler(copy: Path) -> Program | None:
        try:
            ptx = tuple(compile_ptx(copy / name, within, copy) for name in names)
        except ToolkitError:
            return None
        return CudaProgram(command, lambda number: replace(settings(number), edited=ptx))

    return Sources(folder, _with_headers(files, folder), compiler)


def _with_headers(files: Sequence[Path], folder: Path) -> Mapping[str, bytes]:
    """Texts of sources and of the headers in their folders that they include, by name."""
    texts: dict[str, bytes] = {}
    left = list(files)
    while left:
        file = left.pop()
        name = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else ""
        if name and name not in texts and file.is_file():
            texts[name] = file.read_bytes()
            left += [file.parent / each[1].decode() for each in _INCLUDE.finditer(texts[name])]
    return texts
