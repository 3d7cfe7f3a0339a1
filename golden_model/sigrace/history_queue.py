"""BlockHistoryQueue: the last blocks of a thread.

Ref: SigRace (ISCA'09) Section 3.2, Fig. 5.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from racetrap.golden_model.sigrace.packets import BlockName
from racetrap.golden_model.sigrace.params import SigraceParams


class HistoryEntry(NamedTuple):
    """Timestamp and signatures of a block, and its name if address rings hold it."""

    timestamp: tuple[int, ...]
    read: int
    write: int
    block: BlockName | None = None


class HistoryQueue:
    """First in, first out; a new block replaces the oldest in a full queue.

    Parameters
    ----------
    params : SigraceParams
        Configuration.
    unbounded : bool
        Keep all blocks until the queue is cleared, which hardware cannot.

    Attributes
    ----------
    entries : deque of HistoryEntry
        Blocks, newest first.
    """

    def __init__(self, params: SigraceParams, unbounded: bool = False) -> None:
        depth = None if unbounded else params.history_depth
        self.entries: deque[HistoryEntry] = deque(maxlen=depth)

    @property
    def is_full(self) -> bool:
        """Whether blocks older than the oldest entry may have been lost."""
        return len(self.entries) == self.entries.maxlen

    def push(self, entry: HistoryEntry) -> None:
        """Add the newest block."""
        self.entries.appendleft(entry)

    def clear(self) -> None:
        """Remove all blocks."""
        self.entries.clear()
