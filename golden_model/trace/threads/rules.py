"""Rules 6 to 28 and 34: each event record, and the lives of threads, by array operations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import numpy as np

from racetrap.golden_model.trace.container.rules import Breach, Rule, check_breaches
from racetrap.golden_model.trace.threads.events import (
    ATOMIC_KINDS,
    MAX_ACCESS_BYTES,
    MemoryOrder,
    SyncClass,
    ThreadEventKind,
    ThreadTraceHeader,
)
from racetrap.golden_model.trace.threads.lifecycle import life_breaches
from racetrap.golden_model.trace.threads.records import SIZED_KINDS, USED_FIELDS
from racetrap.golden_model.trace.threads.sync_rules import sync_breaches

__all__ = ["check_rules"]

_LOCKING = (ThreadEventKind.ACQUIRE, ThreadEventKind.RELEASE)
_NAMING = (ThreadEventKind.CREATE, ThreadEventKind.JOIN)
_MAX_ADDRESS = (1 << 64) - 1


def _name(kind: int) -> str:
    return ThreadEventKind(kind).name.lower()


def _lookup(kinds: Collection[int]) -> np.ndarray:
    """Table over all kinds: whether the kind is one of ``kinds``."""
    return np.isin(np.arange(len(ThreadEventKind)), list(kinds))


def _breach(rule: Rule, broken: np.ndarray, describe: Callable[[int], str]) -> Breach:
    return Breach(rule, np.flatnonzero(broken), describe)


def _below(
    rule: Rule, events: np.ndarray, name: str, count: int, kinds: Collection[int] | None = None
) -> Breach:
    """Values of a field, of all events or those of some kinds, are below ``count``."""
    values, broken = events[name], events[name] >= count
    if kinds is not None:
        broken &= _lookup(kinds)[events["kind"]]
    return _breach(
        rule, broken, lambda row: f"Field {name} must be below {count}, not {values[row]}"
    )


def _unused(events: np.ndarray, name: str) -> Breach:
    users = _lookup([kind for kind, used in USED_FIELDS.items() if name in used])
    kind, values = events["kind"], events[name]
    return _breach(
        Rule.UNUSED_FIELD,
        (values != 0) & ~users[kind],
        lambda row: f"Field {name} must be 0 in {_name(kind[row])}, not {values[row]}",
    )


def _size_breaches(events: np.ndarray) -> Iterator[Breach]:
    sized = _lookup(SIZED_KINDS)[events["kind"]]
    size, address = events["size"], events["address"]
    yield _breach(
        Rule.SIZE,
        sized & ((size == 0) | (size > MAX_ACCESS_BYTES)),
        lambda row: f"Field size must be from 1 to {MAX_ACCESS_BYTES}, not {size[row]}",
    )
    room = np.uint64(_MAX_ADDRESS) - address
    yield _breach(
        Rule.SIZE,
        sized & (size > room.clip(max=MAX_ACCESS_BYTES) + np.uint64(1)),
        lambda row: (
            f"Access must end at {_MAX_ADDRESS:#x} or before, not be of {size[row]} bytes "
            f"from {address[row]:#x} on"
        ),
    )


def _breaches(header: ThreadTraceHeader, events: np.ndarray) -> Iterator[Breach]:
    """Every rule in turn: a later one may rely on those before it."""
    yield _below(Rule.KIND, events, "kind", len(ThreadEventKind))
    yield _below(Rule.CODE, events, "value", len(SyncClass), _LOCKING)
    yield _below(Rule.CODE, events, "value", len(MemoryOrder), ATOMIC_KINDS)
    for name in ("address", "size", "value"):
        yield _unused(events, name)
    yield from _size_breaches(events)
    yield _below(Rule.THREAD, events, "thread", header.threads)
    yield _below(Rule.THREAD, events, "value", header.threads, _NAMING)
    yield from life_breaches(header.threads, events)
    yield from sync_breaches(events)


def check_rules(header: ThreadTraceHeader, events: np.ndarray, where: Callable[[int], str]) -> None:
    """Check every rule of the format on the events of a trace.

    Parameters
    ----------
    header : ThreadTraceHeader
        Gives the number of threads.
    events : numpy.ndarray
        Records of ``THREAD_DTYPE``.
    where : callable
        Name of the place of an event, from its number.

    Raises
    ------
    TraceError
        For the first event that breaks the first broken rule.
    """
    check_breaches(_breaches(header, events), where)
