"""Mode ``strict`` against the exhaustive machine on traces of any length, on the tiniest machines.

What both know after some operations is a state: the set of states in which the machine can be,
and the sets of the rules.  There are finitely many once values have been renamed by their age,
if an engine holds few DMA at a time; all of them are visited, with every operation in each.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from racetrap.golden_model.noncoherent.interval_set import ByteSet
from racetrap.golden_model.noncoherent.machine import ExhaustiveMachine
from racetrap.golden_model.noncoherent.strict import Strict
from racetrap.golden_model.trace.noncoherent.operations import (
    MemorySystem,
    Operation,
    OperationKind,
)

__all__ = ["TINY_MACHINES", "Fixpoint", "reach_fixpoint"]

#: Machines that are small enough, with the bytes of memory and the most DMA an engine holds.
TINY_MACHINES = (
    (MemorySystem(line_bytes=1, granule_bytes=1), 1, 3),
    (MemorySystem(line_bytes=1, granule_bytes=1, prefetch=True), 1, 3),
    (MemorySystem(line_bytes=1, granule_bytes=1, engines=2), 1, 2),
    (MemorySystem(line_bytes=2, granule_bytes=2), 2, 2),
    (MemorySystem(line_bytes=2, granule_bytes=1), 2, 2),
    (MemorySystem(line_bytes=2, granule_bytes=2, prefetch=True), 2, 2),
    (MemorySystem(line_bytes=2, granule_bytes=1, prefetch=True), 2, 2),
)
_RANGED = (
    OperationKind.CACHED_READ, OperationKind.CACHED_WRITE,
    OperationKind.UNCACHED_READ, OperationKind.UNCACHED_WRITE,
)  # fmt: skip
_LINES = (OperationKind.CACHE_FLUSH, OperationKind.CACHE_CLEAN, OperationKind.CACHE_INVALIDATE)


@dataclass(frozen=True)
class Fixpoint:
    """What was visited.

    Parameters
    ----------
    memory : MemorySystem
        The machine.
    bytes : int
        Bytes of memory.
    outstanding : int
        Most DMA that an engine holds.
    states : int
        States of machine and rules.
    steps : int
        Operations tried in them.
    racy : int
        Steps at which both report a race.
    missed, added : int
        Steps at which only the machine, or only the rules report one.
    """

    memory: MemorySystem
    bytes: int
    outstanding: int
    states: int
    steps: int
    racy: int
    missed: int
    added: int


def _operations(memory: MemorySystem, size: int) -> Iterator[Operation]:
    ranges = [(first, last) for first in range(size) for last in range(first, size)]
    for first, last in ranges:
        for kind in _RANGED:
            yield Operation(kind, first, last - first + 1)
        for engine in range(memory.engines):
            for kind in (OperationKind.DMA_READ, OperationKind.DMA_WRITE):
                yield Operation(kind, first, last - first + 1, engine=engine)
    for line in range(0, size, memory.line_bytes):
        for kind in _LINES:
            yield Operation(kind, line, 1)
    for engine in range(memory.engines):
        yield Operation(OperationKind.SYNC, engine=engine)


def _key(machine: ExhaustiveMachine, rules: Strict) -> Hashable:
    sets = (
        rules.dirty_granules, rules.dirty_bytes, rules.valid, rules.stale,
        *rules.reading, *rules.writing,
    )  # fmt: skip
    return machine.canonical(), tuple(_bytes(one) for one in sets)


def _bytes(set_: ByteSet) -> tuple[int, ...]:
    runs = set_.overlaps(0, (1 << 64) - 1)
    return tuple(byte for first, last, _ in runs for byte in range(first, last + 1))


def reach_fixpoint(memory: MemorySystem, size: int, outstanding: int) -> Fixpoint:
    """Visit every state.

    Parameters
    ----------
    memory : MemorySystem
        The machine.
    size : int
        Bytes of memory, whole lines.
    outstanding : int
        Most DMA that an engine holds at a time.
    """
    start = ExhaustiveMachine(memory, range(size)), Strict(memory)
    seen, left = {_key(*start)}, deque([start])
    operations = list(_operations(memory, size))
    steps = racy = missed = added = 0
    while left:
        machine, rules = left.popleft()
        for operation in operations:
            is_dma = operation.kind in (OperationKind.DMA_READ, OperationKind.DMA_WRITE)
            if is_dma and machine.outstanding(operation.engine) == outstanding:
                continue
            next_machine, next_rules = machine.copy(), copy.deepcopy(rules)
            is_racy, is_reported = (
                next_machine.step(operation), bool(next_rules.step(steps, operation)),
            )  # fmt: skip
            steps += 1
            racy += is_racy and is_reported
            missed += is_racy and not is_reported
            added += is_reported and not is_racy
            if is_racy or is_reported:
                continue
            key = _key(next_machine, next_rules)
            if key not in seen:
                seen.add(key)
                left.append((next_machine, next_rules))
    return Fixpoint(memory, size, outstanding, len(seen), steps, racy, missed, added)
