"""Rules of traces of a CPU and its accelerators (6 to 12, 35 and 36), by array operations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from racetrap.golden_model.trace.container.event_rules import below, field_violations
from racetrap.golden_model.trace.container.rules import Rule, RuleViolation, violation
from racetrap.golden_model.trace.noncoherent.operations import RANGE_KINDS, NoncoherentTraceHeader
from racetrap.golden_model.trace.noncoherent.schema import OPERATION_SCHEMA

_LAST_BYTE = (1 << 64) - 1


def _range_violations(events: np.ndarray) -> Iterator[RuleViolation]:
    has_range = OPERATION_SCHEMA.having(RANGE_KINDS)[events["kind"]]
    size, rows, stride, address = (events[name] for name in ("size", "rows", "stride", "address"))
    yield violation(
        Rule.SIZE,
        has_range & (size == 0),
        lambda row: f"Field size must be at least 1, not {size[row]}",
    )
    yield violation(
        Rule.ROWS, rows == 1, lambda row: f"Field rows must be 0 or at least 2, not {rows[row]}"
    )
    yield violation(
        Rule.ROWS,
        (rows == 0) & (stride != 0),
        lambda row: f"Field stride must be 0 without rows, not {stride[row]}",
    )
    yield violation(
        Rule.ROWS,
        (rows != 0) & (stride < size),
        lambda row: f"Field stride must be at least the size {size[row]}, not {stride[row]}",
    )
    # At most 2**48 bytes, so that only the sum with the address can wrap.
    more = stride.astype(np.uint64) * (rows - np.uint64(1)) + size - np.uint64(1)
    yield violation(
        Rule.SIZE,
        has_range & (more > np.uint64(_LAST_BYTE) - address),
        lambda row: (
            f"Range must end at {_LAST_BYTE:#x} or before, not {int(more[row]) + 1} bytes "
            f"from {address[row]:#x} on"
        ),
    )


def rule_violations(header: NoncoherentTraceHeader, events: np.ndarray) -> Iterator[RuleViolation]:
    """Violations of the rules, in turn: a later one may rely on those before it.

    Parameters
    ----------
    header : NoncoherentTraceHeader
        Number of engines.
    events : numpy.ndarray
        Records of ``OPERATION_DTYPE``.
    """
    yield from field_violations(OPERATION_SCHEMA, events)
    yield from _range_violations(events)
    yield below(Rule.ENGINE, events, "engine", header.memory.engines)
