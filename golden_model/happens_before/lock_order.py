"""Lock-order inversions: threads that acquire the same locks in different orders.

With other timing, each thread could hold a lock and wait for the next one's: a deadlock.  A further
lock that all hold excludes it.  Attempts (`trylock`) and waits with a time limit cannot deadlock:
the lock that they acquire is held, but not waited for.  Acquisitions that can never coincide, since
one thread is created after the other has been joined, still count: the order of threads is ignored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.trace.threads.events import BOUNDED, SyncClass, ThreadEventKind
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

_KIND = ThreadEventKind
_LOCKS = (SyncClass.MUTEX, SyncClass.RWLOCK_READ, SyncClass.RWLOCK_WRITE)
#: Maximum locks of a cycle.
_MOST_LOCKS = 4


class LockOrder(NamedTuple):
    """A blocking acquisition of a lock by a thread that holds another one.

    Parameters
    ----------
    thread : int
        The thread.
    held, acquired : int
        Addresses of both locks.
    held_pc, acquired_pc : int
        Where it acquired each.
    held_is_shared, acquired_is_shared : bool
        Whether it holds them as a reader.
    guards : frozenset of int
        Other locks that it held at the time.
    """

    thread: int
    held: int
    acquired: int
    held_pc: int
    acquired_pc: int
    held_is_shared: bool
    acquired_is_shared: bool
    guards: frozenset[int]

    def _can_block(self, other: LockOrder) -> bool:
        """Whether the other one can hold the lock that this one waits for, at the same time."""
        return (
            self.thread != other.thread
            and not (self.acquired_is_shared and other.held_is_shared)
            and not self.guards & other.guards
        )


def lock_order_inversions(trace: ThreadTrace) -> list[tuple[LockOrder, ...]]:
    """Cycles of at most four acquisitions, in which the next one may hold the lock of each.

    Of several cycles with the same locks only the first is returned; shorter cycles come first.
    """
    orders = _on_cycles(set(_orders(trace)))
    found: dict[frozenset[int], tuple[LockOrder, ...]] = {}
    for length in range(2, _MOST_LOCKS + 1):
        for start in sorted(orders):
            for first in orders[start]:
                for cycle in _cycles(orders, (first,), length):
                    found.setdefault(frozenset(order.held for order in cycle), cycle)
    return list(found.values())


def _orders(trace: ThreadTrace) -> Iterator[LockOrder]:
    """Every blocking acquisition by a thread that holds a lock, one for each lock held."""
    kind, value = trace.events["kind"], trace.events["value"]
    rows = np.flatnonzero((kind == _KIND.ACQUIRE) | (kind == _KIND.RELEASE))
    events = trace.events[rows[np.isin(value[rows], _LOCKS)]]
    columns = (
        events[name].tolist() for name in ("kind", "thread", "address", "value", "pc", "size")
    )
    held: defaultdict[int, dict[int, tuple[int, bool]]] = defaultdict(dict)
    for code, thread, lock, sync_class, pc, wait in zip(*columns, strict=True):
        own, is_shared = held[thread], sync_class == SyncClass.RWLOCK_READ
        if code == _KIND.RELEASE:
            own.pop(lock, None)
            continue
        for other, (other_pc, other_is_shared) in own.items():
            if other != lock and wait != BOUNDED:
                yield LockOrder(
                    thread, other, lock, other_pc, pc, other_is_shared, is_shared,
                    frozenset(own) - {other, lock},
                )  # fmt: skip
        own[lock] = pc, is_shared


def _on_cycles(orders: set[LockOrder]) -> dict[int, list[LockOrder]]:
    """Orders by the lock held, without locks that are never acquired under another or never
    held."""
    while True:
        inner = {order.held for order in orders} & {order.acquired for order in orders}
        kept = {order for order in orders if order.held in inner and order.acquired in inner}
        if len(kept) == len(orders):
            break
        orders = kept
    found: defaultdict[int, list[LockOrder]] = defaultdict(list)
    for order in sorted(orders, key=lambda order: (*order[:-1], sorted(order.guards))):
        found[order.held].append(order)
    return dict(found)


def _cycles(
    orders: dict[int, list[LockOrder]], path: tuple[LockOrder, ...], length: int
) -> Iterator[tuple[LockOrder, ...]]:
    """Cycles of a length that extend ``path`` and begin with their smallest lock."""
    first, last = path[0], path[-1]
    if len(path) == length:
        if last.acquired == first.held and last._can_block(first):
            yield path
        return
    for order in orders[last.acquired]:
        others = {other.held for other in path}
        if order.held <= first.held or order.held in others or not last._can_block(order):
            continue
        # All threads must be able to be in these positions at the same time.
        if all(order.thread != one.thread and not order.guards & one.guards for one in path):
            yield from _cycles(orders, (*path, order), length)
