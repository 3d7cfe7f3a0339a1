"""Global checkpoints: when one is due, and what re-execution from one needs.

A checkpoint is taken as soon as a thread has committed ``interval`` instructions since the last
one.  It interrupts all processors, which ends their blocks like a context switch, and empties the
BlockHistoryQueues: earlier blocks cannot be executed again.

Ref: SigRace (ISCA'09) Sections 3.3.1 and 5.1.
"""

from __future__ import annotations


class Checkpoint:
    """The last checkpoint, and the TS log since then.

    Parameters
    ----------
    threads : int
        Threads of the program.
    interval : int
        Committed instructions of one thread after which the next checkpoint is due.

    Attributes
    ----------
    committed : list of int
        Instructions that each thread has committed since the checkpoint; the caller counts.
    progress : list of int
        Number of each thread's last event before the checkpoint, -1 for none.
    epochs : list of int
        Each thread's own counter at the checkpoint.
    log : list of list of tuple of int
        Timestamps of each thread after each of its synchronisations since the checkpoint.
    """

    def __init__(self, threads: int, interval: int) -> None:
        self.interval = interval
        self._earlier = 0
        self.committed = [0] * threads
        self.progress = [-1] * threads
        self.epochs = [0] * threads
        self.log: list[list[tuple[int, ...]]] = [[] for _ in range(threads)]

    @property
    def total(self) -> int:
        """Instructions that all threads have committed since the start of the program."""
        return self._earlier + sum(self.committed)

    def take(self, progress: list[int]) -> None:
        """Take the next checkpoint.

        Parameters
        ----------
        progress : list of int
            Number of each thread's last event, -1 for none.
        """
        self._earlier = self.total
        for thread, log in enumerate(self.log):
            if log:
                self.epochs[thread] = log[-1][thread]
                log.clear()
            self.committed[thread] = 0
        self.progress = list(progress)
