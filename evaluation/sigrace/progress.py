"""Progress of a recorded program when a rollback is handled.

Ref: SigRace (ISCA'09) Section 3.3.
"""

from __future__ import annotations

import numpy as np

from racetrap.evaluation.sigrace.blocks import Blocks
from racetrap.evaluation.sigrace.execution import Execution
from racetrap.golden_model.sigrace.checkpoint import Checkpoint
from racetrap.golden_model.sigrace.packets import Cause
from racetrap.golden_model.sigrace.params import SigraceParams

__all__ = ["Progress"]

_Timestamp = tuple[int, ...]


class Progress:
    """Keeps the last checkpoint, with the TS log up to the place that is asked for.

    Parameters
    ----------
    execution : Execution
        The program.
    params : SigraceParams
        Gives the counters of a timestamp.

    Attributes
    ----------
    checkpoint : Checkpoint
        The last checkpoint.
    checkpoints : int
        Checkpoints taken.
    """

    def __init__(self, execution: Execution, params: SigraceParams) -> None:
        self._execution = execution
        self._padding = (0,) * (params.threads - len(execution.threads))
        # Checkpoints are known beforehand here: the interval has no use any more.
        self.checkpoint = Checkpoint(params.threads, 1)
        self.checkpoints = 0
        self._logs: dict[int, list[_Timestamp]] = {}  # of the whole interval, by thread

    def take_checkpoint(self, event: int) -> None:
        """Take a checkpoint before an event."""
        self.checkpoints += 1
        self._logs.clear()
        for thread, rows in enumerate(self._execution.threads):
            row = int(np.searchsorted(rows.event, event))
            self.checkpoint.progress[thread] = int(rows.event[row - 1]) if row else -1
            self.checkpoint.epochs[thread] = self._epoch(thread, event)

    def at_event(self, event: int) -> None:
        """All threads have come to the place before an event."""
        self._set_total(int(self._execution.committed[event]))
        for thread in range(len(self._execution.threads)):
            self._set_log(thread, self._epoch(thread, event))

    def at_block(self, blocks: Blocks, number: int) -> None:
        """The event is under way that has ended a block."""
        self.at_event(int(blocks.event[number]))
        self._set_total(int(blocks.total[number]))
        if blocks.cause[number] == Cause.SYNC:
            thread, epoch = int(blocks.thread[number]), int(blocks.epoch[number])
            # The increment is logged; what an acquire brings has not been merged yet.
            self._set_log(thread, epoch)
            stamp = list(self.timestamp(blocks, number))
            stamp[thread] += 1
            self.checkpoint.log[thread].append(tuple(stamp))

    def timestamp(self, blocks: Blocks, number: int) -> _Timestamp:
        """Timestamp of a block."""
        clocks = self._execution.clocks
        row = clocks.first[blocks.thread[number]] + blocks.epoch[number]
        return (*clocks.matrix[row].tolist(), *self._padding)

    def _epoch(self, thread: int, event: int) -> int:
        """Epoch of a thread before an event of any thread."""
        rows, epochs = self._execution.threads[thread], self._execution.epochs
        row = int(np.searchsorted(rows.event, event))
        if not row:
            return 0
        last = rows.event[row - 1]
        return int(epochs.epoch[last] + epochs.steps[last])

    def _set_total(self, instructions: int) -> None:
        self.checkpoint.committed[0] = instructions

    def _set_log(self, thread: int, epoch: int) -> None:
        """Set the TS log of a thread to what it has up to an epoch."""
        start = self.checkpoint.epochs[thread]
        if thread not in self._logs:
            self._logs[thread] = self._log_from(thread, start + 1)
        self.checkpoint.log[thread] = self._logs[thread][: epoch - start]

    def _log_from(self, thread: int, epoch: int) -> list[_Timestamp]:
        """Timestamps from an epoch to the end of the interval."""
        checkpoints = self._execution.checkpoints
        event = len(self._execution.trace.events)
        if self.checkpoints < len(checkpoints):
            event = checkpoints[self.checkpoints]
        first = self._execution.clocks.first[thread]
        rows = self._execution.clocks.matrix[first + epoch : first + self._epoch(thread, event) + 1]
        return [(*row, *self._padding) for row in rows.tolist()]
