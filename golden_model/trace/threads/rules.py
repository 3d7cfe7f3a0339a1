"""Rules of traces of threads (6 to 34): event records and threads, by array operations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from racetrap.golden_model.trace.container.event_rules import (
    below,
    field_violations,
    violations_by_block,
)
from racetrap.golden_model.trace.container.rules import Rule, RuleViolation, violation
from racetrap.golden_model.trace.threads.events import (
    ACCESS_KINDS,
    ATOMIC_KINDS,
    MAX_ACCESS_BYTES,
    ThreadEventKind,
    ThreadTraceHeader,
)
from racetrap.golden_model.trace.threads.lifecycle import lifecycle_violations
from racetrap.golden_model.trace.threads.schema import THREAD_SCHEMA
from racetrap.golden_model.trace.threads.sync_rules import sync_violations

_MAX_ADDRESS = (1 << 64) - 1


def _size_violations(events: np.ndarray) -> Iterator[RuleViolation]:
    sized = THREAD_SCHEMA.having(ACCESS_KINDS | ATOMIC_KINDS)[events["kind"]]
    size, address = events["size"], events["address"]
    yield violation(
        Rule.SIZE,
        sized & ((size == 0) | (size > MAX_ACCESS_BYTES)),
        lambda row: f"Field size must be from 1 to {MAX_ACCESS_BYTES}, not {size[row]}",
    )
    room = np.uint64(_MAX_ADDRESS) - address
    yield violation(
        Rule.SIZE,
        sized & (size > room.clip(max=MAX_ACCESS_BYTES) + np.uint64(1)),
        lambda row: (
            f"Access of {size[row]} bytes from {address[row]:#x} on ends behind {_MAX_ADDRESS:#x}"
        ),
    )


def rule_violations(header: ThreadTraceHeader, events: np.ndarray) -> Iterator[RuleViolation]:
    """Violations of rules 6 to 34, in turn: a later one may rely on those before it.

    Parameters
    ----------
    header : ThreadTraceHeader
        Number of threads.
    events : numpy.ndarray
        Records of ``THREAD_DTYPE``.
    """
    naming = THREAD_SCHEMA.having((ThreadEventKind.CREATE, ThreadEventKind.JOIN))

    def of_single_events(block: np.ndarray) -> Iterator[RuleViolation]:
        yield from field_violations(THREAD_SCHEMA, block)
        yield from _size_violations(block)
        yield below(Rule.THREAD, block, "thread", header.threads)
        yield below(Rule.THREAD, block, "value", header.threads, naming)

    yield from violations_by_block(events, of_single_events)
    yield from lifecycle_violations(header.threads, events)
    yield from sync_violations(events)
