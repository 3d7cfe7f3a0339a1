"""Limits of a launch: when a runaway launch is aborted."""

from __future__ import annotations

from typing import NamedTuple

#: A few seconds of a launch in which nothing happens.
DEFAULT_STALL_LIMIT = 5_000_000
#: A quarter of an hour or so.
DEFAULT_INSTRUCTION_LIMIT = 1_000_000_000
#: Up to 8 GB, if all are accesses of whole warps.
DEFAULT_EVENT_LIMIT = 10_000_000


class Limits(NamedTuple):
    """Limits after which a launch is aborted.

    Parameters
    ----------
    stall : int
        Warp instructions without progress.
    instructions : int or None
        Warp instructions, whatever they do.
    events : int or None
        Events that the log keeps, in which other launches may be, too.
    """

    stall: int = DEFAULT_STALL_LIMIT
    instructions: int | None = None
    events: int | None = None
