"""Rules 27 to 29: lifecycle of each thread, by array operations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from racetrap.golden_model.trace.container.rules import Rule, RuleViolation
from racetrap.golden_model.trace.threads.events import ThreadEventKind


class _Marks:
    """Events of one kind: their rows, the thread that each is about, and its first row."""

    def __init__(self, threads: int, events: np.ndarray, kind: ThreadEventKind, field: str):
        self.rows = np.flatnonzero(events["kind"] == kind)
        self.about = events[field][self.rows]
        # The number of rows means never; of rows with one thread the first is written last.
        self.first = np.full(threads, len(events))
        self.first[self.about[::-1]] = self.rows[::-1]

    def again(self) -> np.ndarray:
        """Rows that are not the first about their thread."""
        return self.rows[self.first[self.about] != self.rows]

    def before(self, other: _Marks) -> np.ndarray:
        """Rows before the first of the other kind about the same thread."""
        return self.rows[self.rows < other.first[self.about]]


def lifecycle_violations(threads: int, events: np.ndarray) -> Iterator[RuleViolation]:
    """Violations of rules 27 to 29, in turn.

    Parameters
    ----------
    threads : int
        Number of threads; no event names another.
    events : numpy.ndarray
        Records of ``THREAD_DTYPE``.
    """
    thread, value = events["thread"], events["value"]
    create = _Marks(threads, events, ThreadEventKind.CREATE, "value")
    begin = _Marks(threads, events, ThreadEventKind.BEGIN, "thread")
    end = _Marks(threads, events, ThreadEventKind.END, "thread")
    join = _Marks(threads, events, ThreadEventKind.JOIN, "value")
    yield RuleViolation(
        Rule.BEGIN, create.rows[create.about == 0],
        lambda row: "Thread 0 is created, but the program begins with it",
    )  # fmt: skip
    yield RuleViolation(
        Rule.BEGIN, create.again(),
        lambda row: f"Thread {value[row]} is created twice",
    )  # fmt: skip
    early = begin.before(create)
    yield RuleViolation(
        Rule.BEGIN, early[thread[early] != 0],
        lambda row: f"Thread {thread[row]} begins before it is created",
    )  # fmt: skip
    yield RuleViolation(
        Rule.BEGIN, begin.again(),
        lambda row: f"Thread {thread[row]} begins twice",
    )  # fmt: skip
    rows = np.arange(len(events))
    yield RuleViolation(
        Rule.ALIVE, np.flatnonzero(rows < begin.first[thread]),
        lambda row: f"Thread {thread[row]} acts before it begins",
    )  # fmt: skip
    yield RuleViolation(
        Rule.ALIVE, np.flatnonzero(rows > end.first[thread]),
        lambda row: f"Thread {thread[row]} acts after its end",
    )  # fmt: skip
    yield RuleViolation(
        Rule.JOIN, join.before(end),
        lambda row: f"Thread {value[row]} is joined before its end",
    )  # fmt: skip
    yield RuleViolation(
        Rule.JOIN, join.again(),
        lambda row: f"Thread {value[row]} is joined twice",
    )  # fmt: skip
