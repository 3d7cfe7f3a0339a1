"""Operations of a trace, kernels and copies, and the order between them.

Ref: ``docs/trace-format.md``, section "Operations and streams".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from racetrap.golden_model.events import EventKind
from racetrap.golden_model.trace.container.rules import Rule, RuleViolation

_BEGINNINGS = (EventKind.KERNEL_BEGIN, EventKind.COPY_READ, EventKind.COPY_WRITE)


def _beginnings(events: np.ndarray) -> np.ndarray:
    """Rows of the first events of operations."""
    kinds = np.ascontiguousarray(events["kind"])  # once from the records, which are long
    return np.flatnonzero(np.logical_or.reduce([kinds == each for each in _BEGINNINGS]))


def order_violation(events: np.ndarray) -> RuleViolation:
    """Rule 37: AFTER names an earlier operation, and precedes one."""
    afters = np.flatnonzero(events["kind"] == EventKind.AFTER)
    begun = np.searchsorted(_beginnings(events), afters)
    named = events["grid_block"][afters]
    total = len(_beginnings(events))
    bad = (named >= begun) | (begun == total)

    def describe(row: int) -> str:
        before = int(begun[np.searchsorted(afters, row)])
        if before == total:
            return "Event after must precede an operation, not follow the last one"
        return (
            f"Field operation must be below {before}, the operations before, "
            f"not {events['grid_block'][row]}"
        )

    return RuleViolation(Rule.AFTER, afters[bad], describe)


@dataclass(frozen=True)
class Operations:
    """Kernels and copies of a trace in their order.

    Parameters
    ----------
    rows : numpy.ndarray
        Event with which each begins.
    before : list of int
        For each, the operations before it, bit n for operation n.
    """

    rows: np.ndarray
    before: list[int]

    @classmethod
    def of(cls, events: np.ndarray) -> Operations:
        """Operations of the events of a valid trace."""
        rows = _beginnings(events)
        afters = np.flatnonzero(events["kind"] == EventKind.AFTER)
        following = np.searchsorted(rows, afters).tolist()
        named: dict[int, list[int]] = {}
        for operation, other in zip(following, events["grid_block"][afters].tolist(), strict=True):
            named.setdefault(operation, []).append(other)
        last: dict[int, int] = {}
        before: list[int] = []
        for number, stream in enumerate(events["grid_block"][rows].tolist()):
            known = 0
            for other in (*named.get(number, ()), *([last[stream]] if stream in last else ())):
                known |= before[other] | 1 << other
            before.append(known)
            last[stream] = number
        return cls(rows, before)

    def are_ordered(self, first: int, second: int) -> bool:
        """Whether the later of two operations comes after the earlier."""
        low, high = sorted((first, second))
        return low == high or bool(self.before[high] >> low & 1)
