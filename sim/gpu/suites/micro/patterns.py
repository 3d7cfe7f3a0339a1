"""Synchronisation patterns of which the micro-benchmarks are composed.

Ref: ScoRD (ISCA'20) Sections II-B and III.
"""

from __future__ import annotations

from racetrap.golden_model.events import Scope
from racetrap.sim.gpu.suites.micro.program import (
    DEVICE,
    Statement,
    add,
    cas,
    exch,
    fence,
    spin,
    store,
)


def acquire(scope: Scope, fenced: Scope | None) -> tuple[Statement, ...]:
    """Take the lock; without the fence the pattern is not recognised as a lock."""
    take = spin(cas("lock", 0, 1, scope), until=lambda old: old == 0)
    return (take,) if fenced is None else (take, fence(fenced))


def release(scope: Scope, fenced: Scope | None) -> tuple[Statement, ...]:
    """Free the lock, with a fence before it if one is given."""
    free = exch("lock", 0, scope)
    return (free,) if fenced is None else (fence(fenced), free)


def locked_store(
    value: int, lock: Scope, acquired: Scope | None, released: Scope | None
) -> tuple[Statement, ...]:
    """Store to the data in a critical section."""
    return (*acquire(lock, acquired), store("data", value), *release(lock, released))


def publish(scope: Scope) -> tuple[Statement, ...]:
    """Store the data, fence, and raise the flag."""
    return store("data", 1), fence(scope), exch("flag", 1, DEVICE)


def await_flag() -> Statement:
    """Wait for the flag and take it down."""
    return spin(exch("flag", 0, DEVICE), until=lambda old: old != 0)


def await_turn(turn: int) -> Statement:
    """Wait until the flag holds a number."""
    return spin(add("flag", 0, DEVICE), until=lambda old: old == turn)
