"""Rules 30 to 34: locks, barriers and collection, by array operations.

Every rule is about running sums: of locks held by a thread, of holders of a lock, of arrivals at a
barrier.  After a stable sort by the subject, each is one cumulative sum.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from racetrap.golden_model.trace.container.arrays import group_numbers, running_sums
from racetrap.golden_model.trace.container.rules import Rule, RuleViolation
from racetrap.golden_model.trace.threads.events import SyncClass, ThreadEventKind

_LOCKS = (SyncClass.MUTEX, SyncClass.RWLOCK_READ, SyncClass.RWLOCK_WRITE)
_BARRIERS = (ThreadEventKind.BARRIER_ARRIVE, ThreadEventKind.BARRIER_LEAVE)


def _lock_violations(events: np.ndarray) -> Iterator[RuleViolation]:
    kind, value, thread, address = (events[name] for name in ("kind", "value", "thread", "address"))
    acting = (kind == ThreadEventKind.ACQUIRE) | (kind == ThreadEventKind.RELEASE)
    rows = np.flatnonzero(acting & np.isin(value, _LOCKS))
    acquires = kind[rows] == ThreadEventKind.ACQUIRE
    step = np.where(acquires, 1, -1)
    reads = value[rows] == SyncClass.RWLOCK_READ
    lock = group_numbers(address[rows], value[rows] == SyncClass.MUTEX)

    def describe_release(row: int) -> str:
        name = SyncClass(value[row]).name.lower()
        return f"Thread {thread[row]} releases {name} {address[row]:#x}, which it does not hold"

    held = running_sums(group_numbers(lock, reads, thread[rows]), step)
    yield RuleViolation(Rule.HELD, rows[held < 0], describe_release)
    writers, readers = running_sums(lock, step * ~reads), running_sums(lock, step * reads)
    taken = np.where(reads, writers > 0, (writers > 1) | (readers > 0))
    yield RuleViolation(
        Rule.FREE,
        rows[acquires & taken],
        lambda row: (
            f"Acquire of {SyncClass(value[row]).name.lower()} {address[row]:#x} "
            "that another thread holds, or the same one does already"
        ),
    )


def _width_violations(
    rows: np.ndarray, barrier: np.ndarray, width: np.ndarray
) -> Iterator[RuleViolation]:
    yield RuleViolation(Rule.BARRIER_WIDTH, rows[width == 0], lambda row: "Width of a barrier is 0")
    _, first = np.unique(barrier, return_index=True)
    due = width[first][barrier]
    wrong = np.flatnonzero(width != due)
    at = wrong[0] if len(wrong) else 0
    yield RuleViolation(
        Rule.BARRIER_WIDTH, rows[wrong],
        lambda row: (f"Width of a barrier is {width[at]}, but {due[at]} at its other "
                     "uses"),
    )  # fmt: skip


def _early_leaves(
    barrier: np.ndarray, thread: np.ndarray, arrives: np.ndarray, width: np.ndarray
) -> np.ndarray:
    """Whether a leave comes before the last arrival of its crossing.

    Crossings count by arrivals at the barrier: the first ``width`` of them are the first
    crossing.  Arrivals and leaves of each thread alternate.
    """
    number = running_sums(barrier, arrives.astype(np.int64))  # arrivals so far, including this one
    by_thread = np.argsort(group_numbers(barrier, thread), kind="stable")
    own = np.empty_like(number)
    # The arrival of a leave is its thread's event before it.
    own[by_thread] = np.roll(number[by_thread], 1)
    needed = -(-own // width) * width
    early: np.ndarray = ~arrives & (number < needed)
    return early


def _barrier_violations(events: np.ndarray) -> Iterator[RuleViolation]:
    rows = np.flatnonzero(np.isin(events["kind"], _BARRIERS))
    thread = events["thread"][rows]
    barrier, width = group_numbers(events["address"][rows]), events["value"][rows].astype(np.int64)
    yield from _width_violations(rows, barrier, width)
    arrives = events["kind"][rows] == ThreadEventKind.BARRIER_ARRIVE
    inside = running_sums(group_numbers(barrier, thread), np.where(arrives, 1, -1))
    yield RuleViolation(
        Rule.BARRIER_CROSSING, rows[(inside < 0) | (inside > 1)],
        lambda row: (
            f"Thread {events['thread'][row]} arrives at a barrier twice, or "
            "leaves it twice"
        ),
    )  # fmt: skip
    yield RuleViolation(
        Rule.BARRIER_CROSSING, rows[_early_leaves(barrier, thread, arrives, width)],
        lambda row: (
            f"Thread {events['thread'][row]} leaves a barrier before all {events['value'][row]} "
            "have arrived"
        ),
    )  # fmt: skip


def _collect_violation(events: np.ndarray) -> RuleViolation:
    kind = events["kind"]
    rows = np.flatnonzero(kind >= ThreadEventKind.COLLECT_OFF)
    step = np.where(kind[rows] == ThreadEventKind.COLLECT_OFF, 1, -1)
    off = running_sums(group_numbers(events["thread"][rows]), step)
    return RuleViolation(
        Rule.COLLECT,
        rows[(off < 0) | (off > 1)],
        lambda row: "Collection goes off twice, or on twice, without the other in between",
    )


def sync_violations(events: np.ndarray) -> Iterator[RuleViolation]:
    """Violations of rules 30 to 34, in turn; ``events`` are records of ``THREAD_DTYPE``."""
    yield from _lock_violations(events)
    yield from _barrier_violations(events)
    yield _collect_violation(events)
