"""Kernel files that a user names: CUDA sources and PTX."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from racetrap.sim.gpu.ptx.module import Module

if TYPE_CHECKING:
    from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions


_SUFFIXES = (".cu", ".ptx")


def is_kernel_file(path: str | Path) -> bool:
    """Whether a file's name is that of a CUDA source or of PTX."""
    return Path(path).suffix in _SUFFIXES


def read_kernel_file(path: str | Path, options: CompilerOptions | None = None) -> Module:
    """Module of a CUDA source, which is compiled, or of a PTX file.

    Parameters
    ----------
    path : str or Path
        File ending in ``.cu`` (needs the extra ``cuda``; host code in it is left out, and headers
        are looked for in its folder) or ``.ptx``.
    options : CompilerOptions, optional
        How a CUDA source is compiled.

    Raises
    ------
    ValueError
        If the name ends otherwise, the source does not compile, or the PTX breaks a rule.
    OSError
        If the file cannot be read.
    """
    # A command that reads a trace does not need the parser.
    from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
    from racetrap.sim.gpu.cuda.toolkit import compile_ptx
    from racetrap.sim.gpu.ptx.parser import parse_ptx

    path = Path(path)
    if not is_kernel_file(path):
        raise ValueError(f"Kernel file must end in {' or '.join(_SUFFIXES)}, not {path.name}")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: File must be UTF-8 text, not have byte {error.object[error.start]:#x} at "
            f"offset {error.start}"
        ) from None
    chosen = options or CompilerOptions()
    if path.suffix == ".cu":
        text = compile_ptx(path, chosen)
    elif chosen != CompilerOptions():
        raise ValueError(f"Options of the compiler must come with a .cu file, not {path.name}")
    return parse_ptx(text, path.name)
