"""Conflicting pairs of an execution: ordered, unordered but morally strong, or a race.

Ref: PTX ISA 9.0, Section 8.7.1 (Conflict and Data-races) and 8.7.2 (Limitations on Mixed-size
Data-races).
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model.events import INITIAL_THREAD
from racetrap.golden_model.ptx_memory_model.execution import Execution


class PairClass(Enum):
    """Class of a conflicting pair."""

    ORDERED = "ordered"
    UNORDERED_STRONG = "unordered strong"
    RACE = "race"
    MIXED_SIZE_RACE = "mixed-size race"

    @property
    def is_race(self) -> bool:
        """Whether it is a data race."""
        return self in (PairClass.RACE, PairClass.MIXED_SIZE_RACE)


class ConflictingPair(NamedTuple):
    """Two overlapping memory operations, at least one of them a write.

    Parameters
    ----------
    first, second : int
        The events, the smaller number first.
    pair_class : PairClass
        Their class.
    """

    first: int
    second: int
    pair_class: PairClass


def classify_conflicts(execution: Execution) -> list[ConflictingPair]:
    """All conflicting pairs by PTX's definition, except those with an initial write, which precedes
    everything.  A volatile access counts as relaxed, as PTX defines it."""
    events = execution.structure.events
    pairs = []
    for first, second in execution.structure.conflict:
        if first < second and events[first].thread != INITIAL_THREAD:
            pairs.append(ConflictingPair(first, second, _class_of(execution, first, second)))
    return pairs


def _class_of(execution: Execution, first: int, second: int) -> PairClass:
    order = execution.causality_order
    if (first, second) in order or (second, first) in order:
        return PairClass.ORDERED
    if (first, second) in execution.structure.morally_strong:
        return PairClass.UNORDERED_STRONG
    events = execution.structure.events
    if events[first].location == events[second].location:
        return PairClass.RACE
    return PairClass.MIXED_SIZE_RACE
