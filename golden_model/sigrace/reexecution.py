"""Re-execution: each thread's progress from a checkpoint, in the order of the TS log.

Ref: SigRace (ISCA'09) Section 3.3.2, Fig. 3 and 4.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

_Timestamp = Sequence[int]


class Reexecution:
    """Threads that execute again, each up to the start of an epoch.

    In the paper every thread stops in its epoch at the time of the conflict.  The partner's
    conflicting block may be of an earlier epoch, whose accesses would then be missed: here a
    conflicting thread stops at the epoch of its own conflicting block, and the others go as far as
    the order of synchronisation allows.

    Parameters
    ----------
    epochs : sequence of int
        Each thread's own counter at the checkpoint.
    log : sequence of sequence of tuple of int
        TS log of each thread: its timestamp after each synchronisation since the checkpoint.
    stops : mapping of int to int
        Epoch at which each conflicting thread stops; none may be ordered after another one.
    """

    def __init__(
        self,
        epochs: Sequence[int],
        log: Sequence[Sequence[_Timestamp]],
        stops: Mapping[int, int],
    ) -> None:
        self._epochs = epochs
        self._log = log
        self._stops = stops

    def lengths(self) -> list[int]:
        """Synchronisations that each thread executes again.

        A thread may execute one iff its clock includes no epoch of a conflicting thread after the
        stop: clocks are transitive, so intermediate threads need no check.
        """
        lengths = []
        for log in self._log:
            length = len(log)
            for conflicting, stop in self._stops.items():
                length = bisect_right(log, stop, 0, length, key=itemgetter(conflicting))
            lengths.append(length)
        return lengths

    def order(self) -> Iterator[tuple[int, _Timestamp]]:
        """Synchronisations in an order in which they can be executed again.

        The rule of the Thread and the Global Re-execution Timestamp: thread p may proceed iff
        grt[i] >= trt_p[i] for all i but p; then grt[p] becomes trt_p[p].

        Yields
        ------
        int, tuple of int
            Thread, and the logged timestamp in its TRT.

        Raises
        ------
        RuntimeError
            If no thread may proceed: the log is not one of an execution.
        """
        grt = list(self._epochs)
        waiting = {
            thread: iter(self._log[thread][:length])
            for thread, length in enumerate(self.lengths())
            if length
        }
        trts = {thread: next(log) for thread, log in waiting.items()}
        while trts:
            ready = [thread for thread, trt in trts.items() if _may_proceed(thread, trt, grt)]
            if not ready:
                raise RuntimeError(f"Re-execution is stuck: no thread can proceed at GRT {grt}")
            for thread in ready:
                trt = trts.pop(thread)
                grt[thread] = trt[thread]
                yield thread, trt
                if (following := next(waiting[thread], None)) is not None:
                    trts[thread] = following


def _may_proceed(thread: int, trt: _Timestamp, grt: Sequence[int]) -> bool:
    """Whether all earlier epochs of the other threads have been executed again."""
    return all(
        reached >= needed
        for other, (reached, needed) in enumerate(zip(grt, trt, strict=True))
        if other != thread
    )
