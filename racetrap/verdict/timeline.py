"""Timeline of a race: what the two threads did around their accesses, in the order of the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


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
    is_access: bool = False
    lack: str = ""
    times: int = 1
    skipped: int = 0


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
        Moments of the first thread that write, and of the second that then read the same location:
        their numbers in ``moments``.
    """

    actors: tuple[str, str]
    moments: tuple[Moment, ...]
    messages: tuple[tuple[int, int], ...] = ()

    @property
    def skipped(self) -> int:
        """Events that are left out."""
        return sum(moment.skipped for moment in self.moments)
