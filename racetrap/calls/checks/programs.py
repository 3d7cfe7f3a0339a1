"""Whole CUDA programs for commands."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from racetrap.commands.shared.terminal import InputError, input_errors, working

if TYPE_CHECKING:
    from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions


#: Linker error for a source with kernels only.
_NO_MAIN = "undefined reference to `main'"
#: Modules that commands need after compilation.
_SLOW_IMPORTS = (
    "racetrap.verdict.gpu.program_check",
    "racetrap.verdict.gpu.oracle",
    "racetrap.presenters.program_findings",
    "racetrap.calls.checks.cures",
    "racetrap.verdict.gpu.cure.programs",
)


@contextmanager
def executable(
    files: Sequence[Path], options: CompilerOptions | None = None
) -> Iterator[tuple[str, CompilerOptions]]:
    """The program, and how its sources were compiled: into a temporary folder."""
    from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions

    used = options or CompilerOptions()
    with tempfile.TemporaryDirectory(prefix="racetrap-") as folder:
        with input_errors():
            path = _compiled(files, Path(folder), used)
        yield str(path.absolute()), used


def _compiled(files: Sequence[Path], folder: Path, options: CompilerOptions) -> Path:
    from racetrap.sim.gpu.cuda.nvcc_options import is_input
    from racetrap.sim.gpu.cuda.runtime_library import runtime_library
    from racetrap.sim.gpu.cuda.toolkit import ToolkitError, compile_program

    program = files[0]
    for file in files:
        if not file.is_file():
            raise ValueError(f"Program must be a file, not {file}")
    if not is_input(program):
        return program
    target, library = folder / program.stem, runtime_library()
    with working(f"Compiling {program}"), ThreadPoolExecutor(1) as pool:
        # They take as long as the compiler needs for a small program.
        prepared = pool.submit(_prepare)
        try:
            compile_program(files, target, library, options)
        except ToolkitError as error:
            if _NO_MAIN not in str(error):
                raise
            raise ToolkitError(
                f"{program} has no `main`: check its kernel by `racetrap check {program} --launch "
                "FILE` (docs/kernels.md says what is in FILE)"
            ) from None
        prepared.result()
    return target


def _prepare() -> None:
    """Import the modules that run a program and show its races, and build the parser."""
    for name in _SLOW_IMPORTS:
        import_module(name)
    from racetrap.sim.gpu.ptx.syntax import grammar

    grammar()


@contextmanager
def program_errors() -> Iterator[None]:
    """Turn errors that keep a program from running into one sentence."""
    from racetrap.sim.gpu.cuda.program_run import ProgramError
    from racetrap.sim.gpu.cuda.toolkit import ToolkitError

    try:
        yield
    except (ProgramError, ToolkitError) as error:
        raise InputError(str(error)) from error
