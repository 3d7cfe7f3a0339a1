"""Shared libraries: C++ compiled once and kept, loaded with the types of their functions."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from racetrap.sim.content_cache import cache_folder, content_key, keep
from racetrap.sim.gnu_tools import run_tool

__all__ = ["Functions", "compiled_library", "load_library"]

#: Result and arguments of each function of a library.
Functions = Mapping[str, tuple[Any, list[Any]]]

_COMMAND = ("g++", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror")


def load_library(path: Path, functions: Functions) -> ctypes.CDLL:
    """A shared library whose functions take and give what ``functions`` says."""
    library = ctypes.CDLL(str(path))
    for name, (result, arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def compiled_library(
    kind: str, sources: Sequence[Path], options: Sequence[str], functions: Functions
) -> ctypes.CDLL:
    """The library of C++ sources, compiled if it never was before.

    Parameters
    ----------
    kind : str
        Folder of the cache, and what errors call the library.
    sources : sequence of Path
        C++ files, and the headers that they include.
    options : sequence of str
        Options of the compiler.
    functions : Functions
        Functions that are called.

    Raises
    ------
    Failure
        If the compiler is missing or refuses a source.
    """
    command = [*_COMMAND, *options]
    units = [str(source) for source in sources if source.suffix == ".cpp"]
    path = keep(
        cache_folder() / kind / f"{content_key(command, files=sources)}.so",
        lambda target: run_tool(
            [*command, *units, "-o", str(target)], f"Library {kind} cannot be compiled"
        ),
    )
    return load_library(path, functions)
