"""Unordered pairs of accesses that an analysis has found, and their classification by each rule.

Ref: PTX ISA 9.0, Sections 8.7.1 (Conflict and Data-races) and 8.8 (Patterns).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.barracuda.kernel import Kernel
from racetrap.golden_model.barracuda.race import (
    BarrierDivergence,
    Race,
    RaceClass,
    RaceKind,
    Result,
)
from racetrap.golden_model.barracuda.report import first_races, party
from racetrap.golden_model.barracuda.shadow import Pairs, same_instruction_conflicts
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
    first_row, first_lane : int
        The earlier access.
    second_row, second_lane : int
        The later access.
    address : int
        First byte of the later access, as the trace has it.
    is_strong : bool
        Whether the two are morally strong.
    is_narrow : bool
        Whether they would be with wider scopes.
    is_volatile : bool
        Whether one is a volatile access.
    instances : int
        Later instructions of a warp with such a pair.  Of morally strong pairs the first is enough.
    block_pairs : int
        Pairs of blocks that have one.
    """

    first_row: int
    first_lane: int
    second_row: int
    second_lane: int
    address: int
    is_strong: bool
    is_narrow: bool
    is_volatile: bool
    instances: int = 1
    block_pairs: int = 1


def _race(kernel: Kernel, found: Finding) -> Race:
    """A finding as a pair of accesses whose kind is that of PTX's letter."""
    warp, other = (int(kernel.warp[row]) for row in (found.first_row, found.second_row))
    if warp == other:
        race_class = RaceClass.DIVERGENCE
    elif kernel.warp_block[warp] == kernel.warp_block[other]:
        race_class = RaceClass.INTRA_BLOCK
    else:
        race_class = RaceClass.INTER_BLOCK
    kind = RaceKind.UNORDERED
    if found.is_strong:
        kind = RaceKind.UNORDERED_STRONG
    elif found.is_narrow:
        kind = RaceKind.SCOPED_ATOMIC
    return Race(
        kind, race_class, Space(kernel.events["space"][found.second_row]), found.address,
        party(kernel, found.first_row, found.first_lane),
        party(kernel, found.second_row, found.second_lane), kernel.number, found.instances,
        found.block_pairs,
    )  # fmt: skip


def result_of(
    kernel: Kernel, rule: OracleRule, findings: Iterable[Finding],
    synchronised: set[tuple[int, int]], divergences: list[BarrierDivergence],
) -> Result:  # fmt: skip
    """Result of a kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    rule : OracleRule
        What is a race.
    findings : iterable of Finding
        One for each two program counters, whether the two are morally strong, and whether they
        are of one block.
    synchronised : set of (int, int)
        Program counters of the write and the read by which patterns synchronise.
    divergences : list of BarrierDivergence
        Barriers that not all threads could reach.
    """
    accesses = kernel.accesses
    same = same_instruction_conflicts(
        kernel, accesses[~rule.needs_no_order(kernel.events[accesses])]
    )
    kinds = np.full(len(same), tuple(RaceKind).index(RaceKind.SAME_INSTRUCTION))
    result = Result(first_races(kernel, Pairs(same, same), kinds), divergences)
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
    result.counts.events = len(kernel.events)
    return result
