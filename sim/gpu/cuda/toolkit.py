"""CUDA compiler and libraries that come as wheels; no GPU is needed."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Sequence
from pathlib import Path

from racetrap.sim.failure import Failure
from racetrap.sim.gnu_tools import run_tool
from racetrap.sim.gpu.cuda.nvcc_options import (
    ARCHITECTURES,
    CompilerOptions,
    Use,
    parse_words,
)
from racetrap.sim.gpu.cuda.other_libraries import headers_folder
from racetrap.sim.tools import install_extra

_PACKAGE = "nvidia.cu13"
#: What must be there of each package that is needed.
_PARTS = ("bin/nvcc", "bin/crt", "include/cuda_runtime.h", "nvvm/bin/cicc", "lib/libcudart.so.13")


class ToolkitError(ValueError):
    """Source that does not compile; the text ends with the compiler's words."""


def toolkit_folder() -> Path:
    """Folder of the compiler.

    Raises
    ------
    Failure
        If it is not installed.
    """
    try:
        spec = importlib.util.find_spec(_PACKAGE)
    except ModuleNotFoundError:  # the parent of a dotted name is missing
        spec = None
    for name in (spec and spec.submodule_search_locations) or ():
        if all((Path(name) / part).exists() for part in _PARTS):
            return Path(name)
    raise Failure(f"Compiler of CUDA programs was not found: {install_extra('cuda')}")


def real_library() -> Path:
    """NVIDIA's runtime library, in whose place ours is put."""
    return toolkit_folder() / "lib" / "libcudart.so.13"


def _nvcc(arguments: Sequence[str]) -> list[str]:
    """Command line of nvcc, which also finds headers of libraries that are not there."""
    last = ["-Xcompiler", f"-idirafter,{headers_folder()}"]
    return [str(toolkit_folder() / "bin" / "nvcc"), *last, *arguments]


def _compile(arguments: Sequence[str], what: str, name: str) -> None:
    run_tool(_nvcc(arguments), f"{what} {name} does not compile", error=ToolkitError)


def compile_program(
    sources: Sequence[Path], target: Path, library: Path, options: CompilerOptions
) -> None:
    """Compile a CUDA program, with line numbers, to PTX and host code.

    Parameters
    ----------
    sources : sequence of Path
        CUDA sources.
    target : Path
        The program.
    library : Path
        Runtime library to link with.
    options : CompilerOptions
        How it is compiled.

    Raises
    ------
    ToolkitError
        If a source does not compile.
    """
    _compile(
        [*options.arguments(), *_linking(library), "-o", str(target), *map(str, sources)],
        "CUDA program", " and ".join(source.name for source in sources),
    )  # fmt: skip


def _linking(library: Path) -> list[str]:
    """Arguments of nvcc for a program that is linked with our runtime library."""
    return [
        "-cudart", "shared", "-g", "--compress-mode", "none",
        f"-L{library.parent}", f"-L{toolkit_folder() / 'lib'}",
    ]  # fmt: skip


def driver_command(words: Sequence[str], library: Path) -> list[str]:
    """Command line of nvcc that makes what ``words`` ask of it so that we can run it.

    Raises
    ------
    ValueError
        If an option lacks its value, or an architecture is not supported.
    """
    kept, architectures = [], []
    for option, value in parse_words(words):
        if option is None:
            kept.append(value)
        elif option.name in ARCHITECTURES:
            architectures += option.words(value)
        elif option.use is not Use.WITHOUT_EFFECT:
            kept += option.words(value)
    arguments = CompilerOptions(tuple(architectures)).arguments()
    return _nvcc([*arguments, *_linking(library), *kept])


def compile_ptx(source: Path, options: CompilerOptions, root: Path | None = None) -> str:
    """PTX, with line numbers, of the kernels of a CUDA source; host code in it is left out.

    Parameters
    ----------
    source : Path
        The source.
    options : CompilerOptions
        How it is compiled.
    root : Path, optional
        Folder that names of files in the PTX are relative to, by default that of the source.

    Raises
    ------
    ToolkitError
        If the source does not compile.
    """
    with tempfile.TemporaryDirectory(prefix="racetrap-") as folder:
        target = Path(folder) / "kernels.ptx"
        _compile(
            [*options.arguments(), "-ptx", "-o", str(target), str(source)],
            "CUDA source", source.name,
        )  # fmt: skip
        # Lines are those of the file's name alone, whatever the folder.
        begin = f'"{(root or source.parent).resolve()}/'
        return target.read_text(encoding="utf-8").replace(begin, '"')
