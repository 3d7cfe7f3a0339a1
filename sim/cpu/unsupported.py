"""Programs that cannot be recorded: unsupported functions, or a runtime other than ours."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.gnu_tools import run_tool

#: Patterns of functions, and the reasons why their use cannot be recorded.
_UNSUPPORTED = (
    (r"clone", "threads are made by pthread_create, std::thread or thrd_create"),
    (r"pthread_setcanceltype", "cancellation could end a thread inside the recorder"),
    (r"pthread_mutexattr_setrobust", "robust mutexes are not followed"),
    (
        r"GOMP_(taskgroup_reduction|doacross|parallel_reductions|target|teams|workshare|scope|cancel)\w*",
        "of OpenMP, parallel regions with loops, sections, tasks, barriers and locks are followed",
    ),
    (r"omp_\w+_nest_lock", "nested locks of OpenMP are not followed"),
    (r"timer_create|getaddrinfo_a|aio_\w+|mq_notify", "the C library makes its threads itself"),
    (r"(make|swap|set)context", "several stacks in one thread are not followed"),
)
#: A symbol of our runtime.
RUNTIME_SYMBOL = "racetrap_mark_off"


def why_refused(name: str, refused: Sequence[tuple[str, str]] = ()) -> str | None:
    """Reason why the use of a function cannot be recorded; None if it can."""
    return next(
        (why for pattern, why in (*_UNSUPPORTED, *refused) if re.fullmatch(pattern, name)), None
    )


def _refuse(names: Set[str], refused: Sequence[tuple[str, str]] = ()) -> None:
    for name in sorted(names):
        if reason := why_refused(name, refused):
            raise RecordError(f"Function {name} cannot be recorded: {reason}")


def check_objects(objects: Sequence[str], refused: Sequence[tuple[str, str]] = ()) -> None:
    """Raise :class:`RecordError` if object files call a function that cannot be recorded.

    Parameters
    ----------
    objects : sequence of str
        The object files.
    refused : sequence of (str, str)
        Patterns of further functions, each with a reason.
    """
    listed = run_tool(
        ["nm", "--undefined-only", "--format=just-symbols", *objects],
        "Symbols of the program cannot be read",
        error=RecordError,
    )
    _refuse(set(listed.split()), refused)


class _Dynamic(NamedTuple):
    """What a program takes from shared libraries, and what they find in it."""

    undefined: frozenset[str]
    defined: frozenset[str]


def _dynamic_symbols(program: Path) -> _Dynamic:
    return _read_dynamic(program, program.stat().st_mtime_ns if program.is_file() else 0)


@lru_cache(maxsize=8)
def _read_dynamic(program: Path, changed: int) -> _Dynamic:
    """The same, read once as long as the program has not changed: a recording asks three times."""
    listed = run_tool(
        ["nm", "--dynamic", "--without-symbol-versions", "--format=posix", str(program)],
        f"Program {program} cannot be run", error=RecordError,
    )  # fmt: skip
    symbols = [line.split()[:2] for line in listed.splitlines()]
    # An undefined symbol may be weak.
    undefined = frozenset(name for name, kind in symbols if kind in "Uvw")
    return _Dynamic(undefined, frozenset(name for name, _ in symbols) - undefined)


def undefined_symbols(program: Path) -> frozenset[str]:
    """Functions and variables that a program imports from shared libraries."""
    return _dynamic_symbols(program).undefined


def check_program(program: Path) -> None:
    """Raise :class:`RecordError` if a program lacks our runtime, or uses unsupported functions."""
    if not program.is_file():
        raise RecordError(f"Program {program} was not found")
    if RUNTIME_SYMBOL not in _dynamic_symbols(program).defined:
        raise RecordError(
            f"Program {program} was not built for recording: build it by `racetrap "
            "cc` or `racetrap c++`, with shared libraries"
        )
    _refuse(undefined_symbols(program))
