"""Shared libraries: C++ compiled once and cached, loaded with typed functions."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from racetrap.sim.content_cache import cache_folder, content_key, keep
from racetrap.sim.gnu_tools import run_tool
from racetrap.sim.twins import HEADER, Twin, check_twins, header_of

#: Result and arguments of each function of a library.
Functions = Mapping[str, tuple[Any, list[Any]]]

_COMMAND = ("g++", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror")


def load_library(
    path: Path, kind: str, functions: Functions, twins: Sequence[Twin] = ()
) -> ctypes.CDLL:
    """A shared library with the functions and types of ``functions``.

    Parameters
    ----------
    path : Path
        Its file.
    kind : str
        Name in error messages.
    functions : Functions
        Functions that are called.
    twins : sequence of Twin
        Declarations that it must have been compiled with.

    Raises
    ------
    Failure
        If it was compiled with different ones.
    """
    library = ctypes.CDLL(str(path))
    check_twins(library, kind, twins)
    for name, (result, arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def compiled_library(
    kind: str,
    sources: Sequence[Path],
    options: Sequence[str],
    functions: Functions,
    twins: Sequence[Twin] = (),
) -> ctypes.CDLL:
    """The library of C++ sources, compiled unless cached.

    Parameters
    ----------
    kind : str
        Folder of the cache, and name of the library in error messages.
    sources : sequence of Path
        C++ files, and the headers that they include.
    options : sequence of str
        Options of the compiler.
    functions : Functions
        Functions that are called.
    twins : sequence of Twin
        Declarations shared with Python, which the sources include as ``twins.h``.

    Raises
    ------
    Failure
        If the compiler is missing or refuses a source.
    """
    command, header = [*_COMMAND, *options], header_of(twins)
    units = [str(source) for source in sources if source.suffix == ".cpp"]

    def compile_to(target: Path) -> None:
        with TemporaryDirectory() as folder:
            Path(folder, HEADER).write_text(header, encoding="utf-8")
            run_tool(
                [*command, f"-I{folder}", *units, "-o", str(target)],
                f"Library {kind} cannot be compiled",
            )

    key = content_key(command, header, files=sources)
    path = keep(cache_folder() / kind / f"{key}.so", compile_to)
    return load_library(path, kind, functions, twins)
