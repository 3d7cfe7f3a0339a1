"""Our runtime library `libcudart.so.13`, compiled once and kept."""

from __future__ import annotations

import ctypes
import os
import shlex
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from racetrap.sim.content_cache import cache_folder, content_key, keep
from racetrap.sim.gnu_tools import run_tool
from racetrap.sim.gpu.cuda.messages import header
from racetrap.sim.gpu.cuda.other_libraries import LINKED, refused_functions
from racetrap.sim.gpu.cuda.toolkit import ToolkitError, real_library, toolkit_folder

#: Folder of its sources.
RUNTIME = Path(__file__).parent / "runtime"

_NAME = "libcudart.so.13"
#: Errors have lower numbers.
_MOST_ERRORS = 1100
_OPTIONS = ("-std=c++17", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror", "-pthread")


def _run(command: Sequence[str]) -> str:
    return run_tool(
        command, "Runtime library of CUDA programs cannot be compiled", error=ToolkitError
    )


def _exports(library: Path) -> set[str]:
    """Names of the functions of a library."""
    table = _run(["nm", "-D", "--defined-only", str(library)])
    entries = (line.split() for line in table.splitlines())
    return {entry[2].partition("@")[0] for entry in entries if len(entry) == 3 and entry[1] == "T"}


def _link(objects: list[Path], target: Path) -> None:
    _run([
        "g++", "-shared", "-pthread", f"-Wl,-soname,{_NAME}",
        f"-Wl,--version-script={RUNTIME / 'exports.map'}", *map(str, objects), "-o", str(target),
    ])  # fmt: skip


def _missing_functions(names: list[str]) -> str:
    """Source of functions that only say that they are missing."""
    lines = [f"RACETRAP_MISSING({name})" for name in names]
    return "\n".join(['#include "missing_functions.h"', *lines, ""])


def _error_names() -> str:
    """Number, name and sentence of each error, which NVIDIA's library gives without a GPU."""
    library = ctypes.CDLL(str(real_library()))
    texts = library.cudaGetErrorName, library.cudaGetErrorString
    for text in texts:
        text.restype = ctypes.c_char_p
    unknown = texts[0](-1)
    return "".join(
        f'{{{error}, "{texts[0](error).decode()}", "{texts[1](error).decode()}"}},\n'
        for error in range(_MOST_ERRORS)
        if texts[0](error) != unknown
    )


def _build(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "messages.h").write_text(header(), encoding="utf-8")
    (folder / "error_names.h").write_text(_error_names(), encoding="utf-8")
    include = [f"-I{folder}", f"-I{RUNTIME}", "-isystem", str(toolkit_folder() / "include")]

    def compile_one(source: Path) -> Path:
        target = folder / f"{source.stem}.o"
        _run(["g++", "-c", *_OPTIONS, *include, str(source), "-o", str(target)])
        return target

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, sorted(RUNTIME.glob("*.cpp"))))
    library = folder / _NAME
    _link(objects, library)
    stubs = folder / "missing_functions.cpp"
    missing = sorted({*_exports(real_library()), *refused_functions()} - _exports(library))
    stubs.write_text(_missing_functions(missing), encoding="utf-8")
    _link([*objects, compile_one(stubs)], library)
    for name in ("cudart", *LINKED):  # what `-lcudart` and so on look for
        (folder / f"lib{name}.so").symlink_to(_NAME)
    # For builds that look for a toolkit: its compiler is ours.
    (folder / "lib64").symlink_to(".")
    (folder / "include").symlink_to(toolkit_folder() / "include")
    (compiler := folder / "bin" / "nvcc").parent.mkdir()
    compiler.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m racetrap nvcc "$@"\n')
    compiler.chmod(0o755)


def runtime_library() -> Path:
    """The library; compiled if it is not there yet.

    Raises
    ------
    ToolkitError
        If it cannot be compiled, or the CUDA headers are not installed.
    """
    sources = [*sorted(RUNTIME.iterdir()), Path(__file__)]
    key = content_key(header(), str(toolkit_folder()), *LINKED, *refused_functions(), files=sources)
    return keep(cache_folder() / "cuda_runtime" / key, _build) / _NAME
