"""Effects of each event of a recording on the lines of caches and blocks, by array operations.

Ref: SigRace (ISCA'09) Sections 4.2 and 5.4.2.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from racetrap.golden_model.happens_before.epochs import event_epochs
from racetrap.golden_model.reenact.cache import LINE_BYTES
from racetrap.golden_model.trace.threads.events import WRITE_KINDS, ThreadEventKind

_KIND = ThreadEventKind
_LINE_LOG2 = LINE_BYTES.bit_length() - 1


class LineEvents:
    """What each event of a trace does.

    Parameters
    ----------
    events : ndarray
        Records of a thread trace.
    """

    def __init__(self, events: np.ndarray) -> None:
        self._events, epochs = events, event_epochs(events)
        kinds = events["kind"]
        is_access, is_write = kinds <= _KIND.ATOMIC_UPDATE, np.isin(kinds, WRITE_KINDS)
        is_plain, ends = kinds <= _KIND.STORE, epochs.steps > 0
        self._is_kept = is_plain & epochs.collected
        first, last = _lines(events)
        self._columns = (
            events["thread"],
            events["instructions"],
            # The core unit takes an op with the instructions of such an event.
            is_plain | ends | (kinds >= _KIND.COLLECT_OFF),
            ends,
            epochs.collected,
            is_access,
            self._is_kept,
            is_write,
            first,
            last,
            _repeated(events["thread"], first, last, is_access, is_write),
        )

    def rows(self, first: int, end: int) -> Iterator[tuple[int, ...]]:
        """Some events as Python objects: thread, instructions, whether they come with another core
        event, whether a block ends; whether it is collected; of accesses whether it is one, whether
        its block keeps it, whether it writes, first and last line, whether it changes nothing."""
        return zip(*(column[first:end].tolist() for column in self._columns), strict=True)

    def shared_lines(self) -> set[int]:
        """Lines that plain, collected accesses of several threads touch."""
        chosen = self._events[self._is_kept]
        both = np.concatenate(_lines(chosen))
        lines, places = np.unique(both, return_inverse=True)
        threads = np.tile(chosen["thread"].astype(np.int64), 2)
        least, most = np.full(len(lines), 1 << 32), np.full(len(lines), -1)
        np.minimum.at(least, places, threads)
        np.maximum.at(most, places, threads)
        return set(lines[least != most].tolist())


def _lines(events: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the first and the last line of each access."""
    ends = events["address"] + events["size"] - np.uint64(1)
    return events["address"] >> np.uint64(_LINE_LOG2), ends >> np.uint64(_LINE_LOG2)


def _repeated(
    threads: np.ndarray, first: np.ndarray, last: np.ndarray, is_access: np.ndarray,
    is_write: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Accesses that change nothing in any cache, as they follow one of the same thread to the same
    line, unless a checkpoint in between has cleaned it.

    Between the two the thread has touched no other line, and no other thread this one; and a write
    follows a write.  Accesses that cross lines are never among them.
    """
    numbers = np.flatnonzero(is_access)
    crossing = numbers[first[numbers] != last[numbers]]
    rows = np.concatenate([numbers, crossing])
    lines = np.concatenate([first[numbers], last[crossing]])
    order = np.argsort(rows, kind="stable")
    rows, lines = rows[order], lines[order]
    owner = threads[rows]
    follows = _same_before(owner, lines) & _same_before(lines, owner)
    writes = is_write[rows]
    by_thread = np.argsort(owner, kind="stable")
    before = np.zeros(len(rows), bool)
    before[by_thread[1:]] = writes[by_thread[:-1]]
    found = np.zeros(len(threads), bool)
    found[rows[follows & (before | ~writes)]] = True
    found[crossing] = False
    return found


def _same_before(keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Whether the row before with the same key has the same value."""
    order = np.argsort(keys, kind="stable")
    found = np.zeros(len(keys), bool)
    found[order[1:]] = (keys[order[1:]] == keys[order[:-1]]) & (
        values[order[1:]] == values[order[:-1]]
    )
    return found
