"""Index of the epochs of a trace, compiled: as ``EpochIndex``, in some 5 bytes an event."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import CDLL, POINTER, byref, c_int64, c_uint32, c_uint64, c_void_p
from typing import Any
from weakref import finalize

import numpy as np

from racetrap.golden_model.happens_before.epoch_index import Allocations, CollectedAccess
from racetrap.golden_model.trace.threads.events import ThreadEventKind
from racetrap.sim.compiled_library import Functions

__all__ = ["EPOCH_FUNCTIONS", "CompiledEpochs"]

_RANGE = [c_void_p, c_uint32, c_uint64, c_uint64]
_FOUND = POINTER(POINTER(c_uint64))
#: Functions of the library.
EPOCH_FUNCTIONS: Functions = {
    "racetrap_epochs_new": (c_void_p, [c_void_p, c_uint64, c_uint32]),
    "racetrap_epochs_delete": (None, [c_void_p]),
    "racetrap_epochs_start": (c_uint64, [c_void_p, c_uint32, c_uint64]),
    "racetrap_epochs_position": (c_uint64, [c_void_p, c_uint32, c_int64]),
    "racetrap_epochs_instructions": (c_uint64, _RANGE),
    "racetrap_epochs_granules": (c_uint64, [*_RANGE, _FOUND]),
    "racetrap_epochs_accesses": (c_uint64, [*_RANGE, c_void_p, c_uint64, _FOUND]),
}
#: Granules that are remembered, in all; an epoch is often asked for again.
_REMEMBERED = 1 << 22


class CompiledEpochs:
    """Epochs, committed instructions and collected accesses of each thread; as ``EpochIndex``.

    Parameters
    ----------
    library : CDLL
        The compiled machine.
    events : numpy.ndarray
        Records of a valid trace, in one piece.
    threads : int
        Its threads.
    """

    def __init__(self, library: CDLL, events: np.ndarray, threads: int) -> None:
        self._library, self._events = library, events
        self._index = library.racetrap_epochs_new(events.ctypes.data, len(events), threads)
        finalize(self, library.racetrap_epochs_delete, self._index)
        self._allocations = Allocations(events)
        self._granules: dict[tuple[int, int, int], np.ndarray] = {}

    def start(self, thread: int, epoch: int) -> int:
        """Position at which an epoch starts; also the end of the epoch before."""
        found: int = self._library.racetrap_epochs_start(self._index, thread, int(epoch))
        return found

    def position(self, thread: int, number: int) -> int:
        """Events of a thread up to and with event ``number`` of the trace."""
        found: int = self._library.racetrap_epochs_position(self._index, thread, number)
        return found

    def instructions(self, thread: int, first: int, last: int) -> int:
        """Instructions that a thread commits in the events at ``first`` to before ``last``."""
        found: int = self._library.racetrap_epochs_instructions(self._index, thread, first, last)
        return found

    def granule_array(self, thread: int, first: int, last: int) -> np.ndarray:
        """Different granules (byte addresses) that are collected there, ascending."""
        key = thread, first, last
        if key not in self._granules:
            found = POINTER(c_uint64)()
            count = self._library.racetrap_epochs_granules(self._index, *key, byref(found))
            if sum(map(len, self._granules.values())) + count > _REMEMBERED:
                self._granules.clear()
            self._granules[key] = _copied(found, count)
        return self._granules[key]

    def granules(self, thread: int, first: int, last: int) -> list[int]:
        """The same as a list."""
        granules: list[int] = self.granule_array(thread, first, last).tolist()
        return granules

    def accesses(
        self, thread: int, first: int, last: int, granules: Sequence[int]
    ) -> list[CollectedAccess]:
        """Accesses there, in order, that touch any of ``granules`` (byte addresses, ascending).

        An access like an earlier one of the same life of its granules is left out: it makes no
        race that the earlier one does not make.
        """
        wanted, found = np.array(granules, np.uint64), POINTER(c_uint64)()
        count = self._library.racetrap_epochs_accesses(
            self._index, thread, first, last, wanted.ctypes.data, len(wanted), byref(found)
        )
        numbers = _copied(found, count)
        records = self._events[numbers]
        columns = (records[name].tolist() for name in ("address", "size", "pc"))
        writes = (records["kind"] == ThreadEventKind.STORE).tolist()
        return list(map(CollectedAccess, numbers.tolist(), *columns, writes))

    def life(self, granule: int, number: int) -> int:
        """Number of allocations that cover a granule (byte address) before an event."""
        return self._allocations.life(granule, number)


def _copied(found: Any, count: int) -> np.ndarray:
    """What a search has found, which the next one replaces."""
    if not count:
        return np.zeros(0, np.uint64)
    return np.ctypeslib.as_array(found, (count,)).copy()
