"""Epochs of all events of a trace, by array operations.

Ref: SigRace (ISCA'09) Sections 2.1 and 4.2 (collect_off).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from racetrap.golden_model.trace.container.arrays import running_sums
from racetrap.golden_model.trace.threads.events import MemoryOrder, ThreadEventKind, epoch_steps

_KIND = ThreadEventKind


class EventEpochs(NamedTuple):
    """Place of each event of a trace in its thread's epochs.

    Parameters
    ----------
    steps : ndarray of int64
        Epochs that the event ends.
    epoch : ndarray of int64
        Epochs of its thread before the event: an access ordered after this epoch is ordered after
        the event's access.
    known : ndarray of int64
        Epoch whose clock gives what is ordered before the event's access: later than ``epoch`` for
        an atomic access that acquires, since it has read from the release.
    collected : ndarray of bool
        Whether accesses are checked there.
    """

    steps: np.ndarray
    epoch: np.ndarray
    known: np.ndarray
    collected: np.ndarray


def event_epochs(events: np.ndarray) -> EventEpochs:
    """Epochs of the events (records of a thread trace) of a whole trace."""
    steps = _steps(events)
    epoch = running_sums(events["thread"], steps) - steps
    marks = (events["kind"] == _KIND.COLLECT_OFF).astype(np.int64)
    marks -= events["kind"] == _KIND.COLLECT_ON
    collected = running_sums(events["thread"], marks) == marks
    acquires = np.isin(events["kind"], (_KIND.ATOMIC_LOAD, _KIND.ATOMIC_UPDATE))
    acquires &= (events["value"] & MemoryOrder.ACQUIRE) != 0
    return EventEpochs(steps, epoch, epoch + steps * acquires, collected)


def _steps(events: np.ndarray) -> np.ndarray:
    """Epochs that each event ends."""
    table = [[epoch_steps(kind, order) for order in MemoryOrder] for kind in _KIND]
    steps = np.array(table, np.int64)[events["kind"], events["value"] % len(MemoryOrder)]
    steps[(events["kind"] == _KIND.BEGIN) & (events["thread"] == 0)] = 0
    return steps
