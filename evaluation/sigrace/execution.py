"""View of the core units on a recorded program, for all threads and events at once.

The NumPy engine of the evaluation does what the golden model does with the environment ``fixed``,
a hundred times faster, so that every configuration can be tried on every program.

Ref: SigRace (ISCA'09) Sections 4.2 and 5.1.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.happens_before.accesses import granule_accesses
from racetrap.golden_model.happens_before.clocks import EpochClocks, epoch_clocks
from racetrap.golden_model.happens_before.epochs import EventEpochs, event_epochs
from racetrap.golden_model.sigrace.params import ADDRESS_BITS, INSTRUCTION_BITS
from racetrap.golden_model.trace.threads.events import GRANULE_LOG2, ThreadEventKind
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

__all__ = ["Execution", "ThreadRows"]

_KIND = ThreadEventKind
_MAX_INSTRUCTIONS = (1 << INSTRUCTION_BITS) - 1
_GRANULE_MASK = (1 << ADDRESS_BITS - GRANULE_LOG2) - 1


class ThreadRows(NamedTuple):
    """Core events of one thread that count instructions, access or synchronise.

    Parameters
    ----------
    event : ndarray of int64, one for each row
        Number of the trace event.
    collected : ndarray of int64, one for each row and one more
        Instructions counted for blocks before the row.
    committed : ndarray of int64, one for each row and one more
        All instructions before the row.
    can_end : ndarray of bool, one for each row
        Whether a block can end by its length there.
    is_sync : ndarray of bool, one for each row
        Whether it is sync_reached.
    first : ndarray of int64, one for each row and one more
        Number of the first granule of each row.
    granule : ndarray of int64
        Granules collected, in order: bits 31 to 2 of their addresses.
    is_write : ndarray of bool, one for each granule
        Whether it is written.
    row : ndarray of int64, one for each granule
        Its row.
    """

    event: np.ndarray
    collected: np.ndarray
    committed: np.ndarray
    can_end: np.ndarray
    is_sync: np.ndarray
    first: np.ndarray
    granule: np.ndarray
    is_write: np.ndarray
    row: np.ndarray


class Execution:
    """A recorded program, prepared once for any number of configurations.

    Parameters
    ----------
    trace : ThreadTrace
        The program.
    checkpoint_interval : int
        Instructions committed by one thread from one checkpoint to the next.

    Attributes
    ----------
    epochs : EventEpochs
        Epoch of every event.
    clocks : EpochClocks
        Timestamp of every epoch.
    threads : list of ThreadRows
        What each thread's core unit sees.
    committed : ndarray of int64, one for each event and one more
        Instructions of all threads before the event.
    checkpoints : list of int
        Numbers of the events before which a checkpoint is taken.
    interval_lengths : ndarray of int64
        Most instructions of a thread from each checkpoint (or the start) to the next (or the end).

    Raises
    ------
    ValueError
        If the interval is less than 1.
    """

    def __init__(self, trace: ThreadTrace, checkpoint_interval: int = 1_000_000) -> None:
        if checkpoint_interval < 1:
            raise ValueError(f"Checkpoint interval must be at least 1, not {checkpoint_interval}")
        self.trace = trace
        events = trace.events
        self.epochs: EventEpochs = event_epochs(events)
        self.clocks: EpochClocks = epoch_clocks(events, self.epochs.steps, trace.header.threads)
        order = np.argsort(events["thread"], kind="stable")
        bounds = np.searchsorted(events["thread"][order], np.arange(trace.header.threads + 1))
        self.threads = [
            _thread_rows(events, self.epochs, order[low:high]) for low, high in pairwise(bounds)
        ]
        self.committed = np.append(0, np.cumsum(events["instructions"], dtype=np.int64))
        self.checkpoints = self._checkpoints(checkpoint_interval)
        self.interval_lengths = self._interval_lengths()

    def _checkpoints(self, interval: int) -> list[int]:
        """A checkpoint is due after the event with which a thread has committed enough."""
        events = self.trace.events
        acts = (events["instructions"] > 0) | (events["kind"] <= _KIND.STORE)
        acts |= (self.epochs.steps > 0) | (events["kind"] >= _KIND.COLLECT_OFF)
        last = int(np.flatnonzero(acts)[-1]) if acts.any() else -1
        checkpoints: list[int] = []
        starts = [0] * len(self.threads)  # row of each thread at the checkpoint
        while True:
            due = len(events)
            for rows, start in zip(self.threads, starts, strict=True):
                enough = rows.committed[start] + interval
                row = int(np.searchsorted(rows.committed, enough)) - 1
                if row < len(rows.event):
                    due = min(due, int(rows.event[row]))
            if due >= last:
                return checkpoints
            checkpoints.append(due + 1)
            starts = [int(np.searchsorted(rows.event, due + 1)) for rows in self.threads]

    def _interval_lengths(self) -> np.ndarray:
        ends = [*self.checkpoints, len(self.trace.events)]
        reached = [rows.committed[np.searchsorted(rows.event, ends)] for rows in self.threads]
        return np.diff(np.array(reached), axis=1, prepend=0).max(axis=0)


def _thread_rows(events: np.ndarray, epochs: EventEpochs, numbers: np.ndarray) -> ThreadRows:
    """Rows of the thread whose events have these numbers.

    A core event has a limited count of instructions: what is left goes ahead of the event.
    """
    instructions = events["instructions"][numbers].astype(np.int64)
    pieces = np.maximum(-(-instructions // _MAX_INSTRUCTIONS), 1)
    event = np.repeat(numbers, pieces)
    ends = np.cumsum(pieces)
    is_last = np.zeros(len(event), bool)
    is_last[ends - 1] = True
    counts = np.full(len(event), _MAX_INSTRUCTIONS, np.int64)
    counts[ends - 1] = instructions - (pieces - 1) * _MAX_INSTRUCTIONS
    kind, on = events["kind"][event], epochs.collected[event]
    is_sync = is_last & (epochs.steps[event] > 0)
    is_access = is_last & (kind <= _KIND.STORE)
    controls = is_last & (is_sync | (kind >= _KIND.COLLECT_OFF))
    chosen = np.flatnonzero(is_access & on)
    source, granule = granule_accesses(events, event[chosen])
    touched = np.diff(np.append(np.flatnonzero(np.diff(source, prepend=-1)), len(source)))
    touches = np.zeros(len(event), np.int64)
    touches[chosen] = touched
    return ThreadRows(
        event=event,
        collected=np.append(0, np.cumsum(counts * on)),
        committed=np.append(0, np.cumsum(counts)),
        can_end=on & (is_access | (~controls & (counts > 0))),
        is_sync=is_sync,
        first=np.append(0, np.cumsum(touches)),
        granule=granule & _GRANULE_MASK,
        is_write=events["kind"][source] == _KIND.STORE,
        row=np.repeat(chosen, touched),
    )
