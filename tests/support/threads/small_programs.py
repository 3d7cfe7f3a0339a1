"""Small programs with a verdict each, of every library of threads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from racetrap.sim.cpu.programs.small_programs import (
    SMALL_FOLDER,
    SMALL_PROGRAMS,
    SmallProgram,
    programs_in,
)

#: Programs of pthreads, which the product has, and those of C11, C++20 and OpenMP.
ALL_SMALL_PROGRAMS: Mapping[str, SmallProgram] = MappingProxyType(
    {**SMALL_PROGRAMS, **programs_in(Path(__file__).parent / "small")}
)
#: What ThreadSanitizer does not see of a source, so that it may report other races.
_UNSEEN = {
    "c11.c": "threads of C11, which it does not intercept",
    "openmp.c": "waiting of libgomp, which is not instrumented",
    "openmp_tasks.c": "beginnings and ends of libgomp's tasks, which is not instrumented",
}
_OPTIONS = {
    "cxx20.cpp": ("-std=c++20",), "openmp.c": ("-fopenmp",), "openmp_tasks.c": ("-fopenmp",),
}  # fmt: skip


def options_of(source: Path) -> tuple[str, ...]:
    """Options of the compiler for a source."""
    return f"-I{SMALL_FOLDER}", *_OPTIONS.get(source.name, ())


def unseen_of(source: Path) -> str:
    """What ThreadSanitizer does not see of a source; empty if it sees all."""
    return _UNSEEN.get(source.name, "")
