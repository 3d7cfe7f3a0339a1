"""Functions whose use cannot be recorded, found in the object files of a program."""

from __future__ import annotations

import re
from collections.abc import Sequence

from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.cpu.gnu_tools import run_tool

__all__ = ["check_objects"]

#: Pattern of functions, and why their use cannot be recorded.
_UNSUPPORTED = (
    (r"v?fork|clone|posix_spawnp?|popen|system", "another process is not followed"),
    (r"pthread_cancel", "a cancelled thread leaves no trace of what its cleanup undoes"),
    (r"pthread_mutexattr_setrobust", "robust mutexes are not followed"),
    (r"thrd_\w+|mtx_\w+|cnd_\w+|call_once", "threads of C11 bypass the pthread functions"),
    (r"GOMP_\w+|omp_\w+", "OpenMP synchronises inside its own library"),
    (r"timer_create|getaddrinfo_a|aio_\w+|mq_notify", "the C library makes its threads itself"),
    (r"(make|swap|set)context", "several stacks in one thread are not followed"),
)


def check_objects(objects: Sequence[str], refused: Sequence[tuple[str, str]] = ()) -> None:
    """Raise :class:`RecordError` if object files call a function that cannot be recorded.

    Parameters
    ----------
    objects : sequence of str
        The object files.
    refused : sequence of (str, str)
        Patterns of further functions, each with why.
    """
    listed = run_tool(
        ["nm", "--undefined-only", "--format=just-symbols", *objects],
        "Symbols of the program cannot be read",
    )
    for name in sorted(set(listed.split())):
        for pattern, reason in (*_UNSUPPORTED, *refused):
            if re.fullmatch(pattern, name):
                raise RecordError(f"Function {name} cannot be recorded: {reason}")
