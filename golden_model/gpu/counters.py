"""Event counters of a GPU's detector: of each bank by what its steps are, and their sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import Any, Protocol

#: By the register's name in lower case, whether a step counts; its fields may be arrays.
Counters = Mapping[str, Callable[[Any], Any]]


class Counting(Protocol):
    """A part of a detector with counters of its own."""

    @property
    def counters(self) -> Mapping[str, int]:
        """Counters by the register's name in lower case."""


def has(field: str, value: int) -> Callable[[Any], Any]:
    """Whether a field of a step has a value."""
    return lambda step: getattr(step, field) == value


def one_for_each(kinds: type[IntEnum], field: str, prefix: str) -> Counters:
    """A counter for each kind that a field of a step can have, but not for 0."""
    return {f"{prefix}_{kind.name.lower()}": has(field, kind) for kind in kinds if kind}


def totals(counters: Counters, steps: Mapping[Any, int]) -> dict[str, int]:
    """Counters by name, from how often there was each step."""
    return {
        name: sum(times for step, times in steps.items() if counts(step))
        for name, counts in counters.items()
    }


def sum_counters(parts: Iterable[Counting]) -> dict[str, int]:
    """Counters of an instance by name, each the sum over all parts that have it."""
    sums: Counter[str] = Counter()
    for part in parts:
        sums.update(part.counters)
    return dict(sums)
