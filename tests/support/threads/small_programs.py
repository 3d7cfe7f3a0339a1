"""Small programs with a verdict each: correct and incorrect uses of each synchronisation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

_FOLDER = Path(__file__).parent / "small"
#: An entry of the list of cases in a source.
_CASE = re.compile(r"^ +CASE\((\w+), (clean|racy)\),$", re.MULTILINE)

_OPTIONS = {
    "cxx20.cpp": ("-std=c++20",), "openmp.c": ("-fopenmp",), "openmp_tasks.c": ("-fopenmp",),
}  # fmt: skip
_UNSEEN = {
    "c11.c": "threads of C11, which it does not intercept",
    "openmp.c": "waiting of libgomp, which is not instrumented",
    "openmp_tasks.c": "beginnings and ends of libgomp's tasks, which is not instrumented",
}


class SmallProgram(NamedTuple):
    """A case of a source; its name is the program's only argument.

    Parameters
    ----------
    name : str
        Name.
    source : Path
        Source.
    is_racy : bool
        Whether it has a race, however it is scheduled.
    options : tuple of str
        Options of the compiler.
    unseen : str
        What ThreadSanitizer does not see of the source, so that it may report other races; empty
        if it sees all.
    """

    name: str
    source: Path
    is_racy: bool
    options: tuple[str, ...]
    unseen: str


def _listed() -> Mapping[str, SmallProgram]:
    cases = {}
    for source in sorted([*_FOLDER.glob("*.c"), *_FOLDER.glob("*.cpp")]):
        options, unseen = _OPTIONS.get(source.name, ()), _UNSEEN.get(source.name, "")
        for name, verdict in _CASE.findall(source.read_text(encoding="utf-8")):
            cases[name] = SmallProgram(name, source, verdict == "racy", options, unseen)
    return MappingProxyType(cases)


#: By name, as the sources list them.
SMALL_PROGRAMS: Mapping[str, SmallProgram] = _listed()
#: Those that need no other library than pthreads.
PTHREAD_PROGRAMS = tuple(
    name for name, case in SMALL_PROGRAMS.items() if not case.options and not case.unseen
)
