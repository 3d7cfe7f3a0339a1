"""Search over schedules: further runs of a subject while they find what earlier ones have not."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from racetrap.verdict.gpu.trace_check import TraceCheck

#: Schedules at most, of which the last ones add nothing, unless a number is asked for.
MOST_SCHEDULES = 5
#: Seconds within which further schedules end, if each takes as long as the one before.
SECONDS = 60.0
_IDLE = 2


def scheduler_of(number: int, first: str) -> str:
    """Warp scheduler of a schedule: the second one turns the order of those that contend around,
    which random ones need not."""
    return (first, "newest-first", "random")[min(number, 2)]


class ScheduleSearch:
    """Which further schedules are run.

    Parameters
    ----------
    exactly : int, optional
        Number of schedules; without it they end when two in a row have added nothing and each
        report of the detector has a race of the exact analysis, with the budget, or with a kernel
        that does not end.
    most : int
        Schedules at most, if their number is not given.
    seconds : float
        Seconds, from the time when this is made.  None begins after them, nor one that would end
        after them if it took as long as the one before.
    """

    def __init__(
        self, exactly: int | None = None, most: int = MOST_SCHEDULES, seconds: float = SECONDS
    ) -> None:
        self._exactly, self._most, self._seconds = exactly, most, seconds
        self._begin = monotonic()

    @property
    def seconds_left(self) -> float:
        """Seconds that are left."""
        return max(self._begin + self._seconds - monotonic(), 0.0)

    def further(self, check: TraceCheck) -> Iterator[int]:
        """Numbers of the schedules behind the first; the caller adds each run to the check before
        it takes the next number."""
        if self._exactly is not None:
            yield from range(1, self._exactly)
            return
        found, idle, number, begin = check.found, 0, 0, self._begin
        while (ending := self._ending(check, idle, number + 1, monotonic() - begin)) is None:
            number, begin = number + 1, monotonic()
            yield number
            idle = idle + 1 if check.found == found else 0
            found = check.found
        check.ending = ending

    def _ending(self, check: TraceCheck, idle: int, done: int, took: float) -> str | None:
        """Why no further schedule is run, if none is, where the last one ``took`` some seconds; a
        kernel without an end speaks for itself."""
        if check.hangs:
            return ""
        if idle >= _IDLE and not check.has_lone_reports:
            return f"of at most {self._most} in {self._seconds:g} s; the last {_IDLE} added nothing"
        if done >= self._most:
            return f"of at most {self._most} in {self._seconds:g} s"
        if not self.seconds_left:
            return f"of at most {self._most}; their {self._seconds:g} s were over"
        if self.seconds_left < took:
            return f"of at most {self._most}; {self._seconds:g} s are too short for another"
        return None
