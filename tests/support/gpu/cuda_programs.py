"""CUDA programs for tests: compiled if the compiler is there, else the tests skip."""

import os
import tempfile
from pathlib import Path

import pytest

from racetrap.sim.gpu.cuda.context import RunSettings
from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
from racetrap.sim.gpu.cuda.program_run import ProgramRun, run_program
from racetrap.sim.gpu.cuda.runtime_library import runtime_library
from racetrap.sim.gpu.cuda.toolkit import ToolkitError, compile_program, toolkit_folder


def _has_compiler() -> bool:
    try:
        toolkit_folder()
    except ToolkitError:
        return False
    return True


needs_compiler = pytest.mark.skipif(
    not _has_compiler(), reason="CUDA programs need the compiler of the extra cuda"
)


def compile_text(
    text: str, folder: Path, define: tuple[str, ...] = (), options: tuple[str, ...] = ()
) -> Path:
    """Program of a source text."""
    source, target = folder / "program.cu", folder / "program"
    source.write_text(text, encoding="utf-8")
    options += tuple(f"-D{name}" for name in define)
    compile_program([source], target, runtime_library(), CompilerOptions(options))
    return target


def run_text(
    text: str, options: tuple[str, ...] = (), **settings: object
) -> tuple[ProgramRun, str]:
    """Run of a source text, and what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        program = compile_text(text, Path(folder), options=options)
        path = Path(folder) / "output"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
        try:
            run = run_program([str(program)], RunSettings(output=descriptor, **settings))
        finally:
            os.close(descriptor)
        return run, path.read_text(encoding="utf-8")
