"""Kernel files that a user names: CUDA sources and PTX."""

from __future__ import annotations

from pathlib import Path

from racetrap.sim.gpu.ptx.module import Module

__all__ = ["is_kernel_file", "read_kernel_file"]

_SUFFIXES = (".cu", ".ptx")


def is_kernel_file(path: str | Path) -> bool:
    """Whether a file's name is that of a CUDA source or of PTX."""
    return Path(path).suffix in _SUFFIXES


def read_kernel_file(path: str | Path) -> Module:
    """Module of a CUDA source, which is compiled, or of a PTX file.

    Parameters
    ----------
    path : str or Path
        File ending in ``.cu`` (needs the extra ``cuda``; headers are looked for in its
        folder) or ``.ptx``.

    Raises
    ------
    ValueError
        If the name ends otherwise, the source does not compile, or the PTX breaks a rule.
    OSError
        If the file cannot be read.
    """
    # A command that is given a trace has no use for the parser.
    from racetrap.sim.gpu.launch.nvrtc import compile_cuda
    from racetrap.sim.gpu.ptx.parser import parse_ptx

    path = Path(path)
    if not is_kernel_file(path):
        raise ValueError(f"Kernel file must end in {' or '.join(_SUFFIXES)}, not {path.name}")
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: File must be UTF-8 text, not have byte {error.object[error.start]:#x} at "
            f"offset {error.start}"
        ) from None
    if path.suffix == ".cu":
        text = compile_cuda(text, path.name, [f"--include-path={path.parent}"])
    return parse_ptx(text, path.name)
