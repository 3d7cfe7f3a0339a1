"""Unordered pairs of accesses that an analysis has found, and their classification by each rule.

Ref: PTX ISA 9.0, Sections 8.7.1 (Conflict and Data-races) and 8.8 (Patterns).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.barracuda.race import (
    BarrierDivergence,
    Party,
    Race,
    RaceClass,
    RaceKind,
    Result,
)
from racetrap.golden_model.events import EventKind, MemoryOrder, Scope, Space


class OracleRule(StrEnum):
    """Classification of an unordered pair of strong accesses.

    CAUSALITY takes that of a volatile access for a race, unless it is the pair by which a
    release and an acquire pattern make known what nothing else does; PTX never does.
    """

    CAUSALITY = "causality"
    PTX = "ptx"

    def needs_no_order(self, events: np.ndarray) -> np.ndarray:
        """Which events of a trace need no order with others whose scope they share."""
        strong: np.ndarray = events["strong"] != 0
        if self is OracleRule.CAUSALITY:
            is_atomic = events["kind"] == EventKind.ATOMIC
            strong &= is_atomic | (events["order"] != MemoryOrder.IMPLIED)
        return strong

    def may_conflict(self, events: np.ndarray) -> np.ndarray:
        """Which of them may conflict with others of any block."""
        on_device: np.ndarray = events["scope"] == Scope.DEVICE
        return self.needs_no_order(events) & on_device


class Finding(NamedTuple):
    """A pair of conflicting accesses that is unordered.

    Parameters
    ----------
    first, second : Party
        The accesses in the order of the run.
    race_class : RaceClass
        Relation of their threads.
    space : Space
        Memory of the location.
    address : int
        First byte of the later access, as the trace has it.
    is_strong : bool
        Whether the two are morally strong.
    is_narrow : bool
        Whether they would be with wider scopes.
    is_volatile : bool
        Whether one is a volatile access.
    is_same : bool
        Whether they are lanes of one store that have stored different values.
    instances : int
        Later instructions of a warp with such a pair.  Of morally strong pairs the first is enough.
    block_pairs : int
        Pairs of blocks that have one.
    is_least : bool
        Whether there may have been more of both.
    owner : int, optional
        Index in the grid of the block whose shared memory it is, if other blocks can access it.
    """

    first: Party
    second: Party
    race_class: RaceClass
    space: Space
    address: int
    is_strong: bool = False
    is_narrow: bool = False
    is_volatile: bool = False
    is_same: bool = False
    instances: int = 1
    block_pairs: int = 1
    is_least: bool = False
    owner: int | None = None


def _race(kernel: int, found: Finding) -> Race:
    """A finding as a pair of accesses whose kind is that of PTX's letter."""
    kind = RaceKind.UNORDERED
    if found.is_same:
        kind = RaceKind.SAME_INSTRUCTION
    elif found.is_strong:
        kind = RaceKind.UNORDERED_STRONG
    elif found.is_narrow:
        kind = RaceKind.SCOPED_ATOMIC
    return Race(
        kind, found.race_class, found.space, found.address, found.first, found.second, kernel,
        found.instances, found.block_pairs, found.is_least, found.owner,
    )  # fmt: skip


def result_of(
    kernel: int, rule: OracleRule, findings: Iterable[Finding],
    synchronised: set[tuple[int, int]], divergences: list[BarrierDivergence],
) -> Result:  # fmt: skip
    """Result of a kernel.

    Parameters
    ----------
    kernel : int
        Number of the kernel.
    rule : OracleRule
        What is a race.
    findings : iterable of Finding
        One for each two program counters, whether the two are morally strong, and whether they
        are of one block; besides, one for each store of lanes.
    synchronised : set of (int, int)
        Program counters of the write and the read by which patterns synchronise.
    divergences : list of BarrierDivergence
        Barriers that not all threads could reach.
    """
    result = Result([], divergences)
    for found in findings:
        race = _race(kernel, found)
        pair = race.first.pc, race.second.pc
        is_pattern = pair in synchronised or pair[::-1] in synchronised
        if not found.is_strong:
            result.races.append(race)
        elif found.is_volatile and rule is OracleRule.CAUSALITY and not is_pattern:
            result.races.append(replace(race, kind=RaceKind.UNORDERED))
        else:
            result.unordered_strong.append(race)
    result.races.sort(key=lambda race: (race.second.event, race.first.event))
    return result
