"""Timeline of a race: what the two threads did around their accesses, in the order of the run.

A thread may also be what acts like one: a copy, a CPU, an engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

#: What lacks between two accesses if no more is known.
NOT_ORDERED = "not ordered"


class Sort(Enum):
    """What a moment is: a plain access, an atomic one, or no access but what orders them."""

    ACCESS = "access"
    ATOMIC = "atomic"
    ORDER = "order"


class Moment(NamedTuple):
    """An instruction of one of the two threads, or a barrier of both.

    Parameters
    ----------
    event : int
        Number of its event in the trace.
    sides : tuple of int
        Threads that made it: 0 that of the earlier access, 1 the other.
    words : str
        What it is: ``store``, ``fence, block scope``.
    name : str
        What it accesses, such as ``ready[3]``; empty if unknown, or for other instructions.
    place : str
        Line of the source, outside library headers.
    sort : Sort
        What it is.
    is_access : bool
        Whether it is one of the two accesses that race.
    lack : str
        What the race's cause says of it, in a few words; mostly nothing.
    times : int
        How often the thread ran this instruction, here and in repetitions that are not shown.
    skipped : int
        Events of the thread ahead of it that are left out, of other instructions.
    """

    event: int
    sides: tuple[int, ...]
    words: str
    name: str
    place: str
    sort: Sort = Sort.ACCESS
    is_access: bool = False
    lack: str = ""
    times: int = 1
    skipped: int = 0


class Band(NamedTuple):
    """State of a thread around its access: a lock is held, DMA is in flight.

    Parameters
    ----------
    side : int
        Thread: 0 that of the earlier access, 1 the other.
    first, last : int or None
        Moments with which it begins and ends, their numbers; ``None`` for an end that is not shown.
    words : str
        What it is.
    """

    side: int
    first: int | None
    last: int | None
    words: str


@dataclass(frozen=True)
class Timeline:
    """Moments of two threads.

    Parameters
    ----------
    actors : tuple of str
        The threads, that of the earlier access first.
    moments : tuple of Moment
        In the order of the run.
    messages : tuple of (int, int)
        Moments of the first thread that hand over a location or object, and of the second that then
        take it over: their numbers in ``moments``.
    missing : str
        What lacks between the accesses.
    bands : tuple of Band
        States around the accesses.
    """

    actors: tuple[str, str]
    moments: tuple[Moment, ...]
    messages: tuple[tuple[int, int], ...] = ()
    missing: str = NOT_ORDERED
    bands: tuple[Band, ...] = ()

    @property
    def skipped(self) -> int:
        """Events that are left out."""
        return sum(moment.skipped for moment in self.moments)
