"""Conflict log: the blocks that conflict, and the reasons to request a rollback.

Ref: SigRace (ISCA'09) Section 3.3.1.
"""

from __future__ import annotations

from enum import IntFlag, StrEnum

from racetrap.golden_model.sigrace.packets import Cause, LogEntry, Summary
from racetrap.golden_model.sigrace.params import SigraceParams


class Reason(IntFlag):
    """Reason for a rollback request; a bit stays set until the log is cleared."""

    FULL = 1  # the log is full
    BLOCKS = 2  # log_blocks more blocks of the thread that found the first conflict
    SYNC = 4  # that thread has reached a synchronisation


class RollbackWhen(StrEnum):
    """When software answers a request of the RDM.

    A request that is not answered waits until one is that is, or until the next checkpoint or the
    program's end.
    """

    BLOCKS = "blocks"  # at once
    SYNC = "sync"  # if the thread has reached a synchronisation, or the log is full
    LOG_FULL = "log-full"  # if the log is full
    CHECKPOINT = "checkpoint"  # never before a checkpoint or the program's end

    @property
    def reasons(self) -> Reason:
        """Reasons that are answered."""
        return _ANSWERED[self]


_ANSWERED = {
    RollbackWhen.BLOCKS: Reason.FULL | Reason.BLOCKS | Reason.SYNC,
    RollbackWhen.SYNC: Reason.FULL | Reason.SYNC,
    RollbackWhen.LOG_FULL: Reason.FULL,
    RollbackWhen.CHECKPOINT: Reason(0),
}


class ConflictLog:
    """Holds the first conflicts.

    Parameters
    ----------
    params : SigraceParams
        Configuration.
    unbounded : bool
        Unlimited log, which hardware cannot have: it is never full.

    Attributes
    ----------
    entries : list of LogEntry
        Conflicts, oldest first.
    reasons : int
        ``Reason`` of the rollback request; 0 if there is none.
    """

    def __init__(self, params: SigraceParams, unbounded: bool = False) -> None:
        self._params = params
        self._depth = None if unbounded else params.log_depth
        self.clear()

    def clear(self) -> None:
        """Clear conflicts and reasons."""
        self.entries: list[LogEntry] = []
        self.reasons = 0
        self._first = -1  # thread whose message found the first conflict
        self._blocks = -1  # its messages since then

    @property
    def is_full(self) -> bool:
        """Whether the next conflict will be dropped."""
        return len(self.entries) == self._depth

    def add(self, entry: LogEntry) -> bool:
        """Log a conflict; return False if the log is full."""
        if self.is_full:
            return False
        self.entries.append(entry)
        if self._first < 0:
            self._first = entry.thread
        return True

    def pushed(self, summary: Summary) -> None:
        """Update the reasons after a message was queued."""
        if self.is_full:
            self.reasons |= Reason.FULL
        if summary.thread != self._first:
            return
        self._blocks += 1  # the message that found the conflict makes this 0
        if self._blocks >= self._params.log_blocks:
            self.reasons |= Reason.BLOCKS
        if summary.cause == Cause.SYNC:
            self.reasons |= Reason.SYNC
