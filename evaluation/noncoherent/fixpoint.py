"""Mode ``strict`` against the exhaustive machine on traces of any length, on the tiniest machines.

What both know after some operations is a state: the set of states in which the machine can be,
and the sets of the rules.  There are finitely many once values have been renamed by their age,
if an engine holds few DMA at a time; all of them are visited, with every operation in each.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from racetrap.golden_model.noncoherent.machine import ExhaustiveMachine
from racetrap.golden_model.noncoherent.noncoherent import Noncoherent
from racetrap.golden_model.trace.noncoherent.operations import (
    MemorySystem,
    Operation,
    OperationKind,
)
from racetrap.sim.accelerator.compiled.detector import run_compiled

_RANGED = (
    OperationKind.CACHED_READ, OperationKind.CACHED_WRITE,
    OperationKind.UNCACHED_READ, OperationKind.UNCACHED_WRITE,
)  # fmt: skip
_LINES = (OperationKind.CACHE_FLUSH, OperationKind.CACHE_CLEAN, OperationKind.CACHE_INVALIDATE)


@dataclass(frozen=True)
class TinyMachine:
    """A machine whose states can all be visited.

    Parameters
    ----------
    memory : MemorySystem
        The hardware.
    bytes : int
        Bytes of memory, whole lines.
    outstanding : int
        Most DMA that an engine holds at a time.
    """

    memory: MemorySystem
    bytes: int
    outstanding: int


@dataclass(frozen=True)
class Fixpoint:
    """What was visited.

    Parameters
    ----------
    machine : TinyMachine
        The machine.
    states : int
        States of machine and rules.
    steps : int
        Operations tried in them.
    racy : int
        Steps at which both report a race.
    missed, added : int
        Steps at which only the machine, or only the rules report one.
    """

    machine: TinyMachine
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


def _machine(
    size: int, granule: int, outstanding: int, engines: int = 1, **options: bool
) -> TinyMachine:
    memory = MemorySystem(line_bytes=size, granule_bytes=granule, engines=engines, **options)
    return TinyMachine(memory, size, outstanding)


#: Machines of one line whose states are visited within a minute each.
TINY_MACHINES = (
    _machine(1, 1, 3),
    _machine(1, 1, 3, prefetch=True),
    _machine(1, 1, 3, uncached_snoops_cache=True),
    _machine(1, 1, 3, write_through=True),
    _machine(1, 1, 2, engines=2),
    _machine(2, 2, 2),
    _machine(2, 1, 2),
    _machine(2, 2, 2, prefetch=True),
    _machine(2, 1, 2, prefetch=True),
    _machine(2, 1, 2, uncached_snoops_cache=True),
    _machine(2, 2, 2, write_through=True),
    _machine(2, 2, 2, write_through=True, prefetch=True),
)


def reach_fixpoint(tiny: TinyMachine) -> Fixpoint:
    """Visit every state of a machine and the rules; a run ends at its first race."""
    rules, start = Noncoherent(tiny.memory), ExhaustiveMachine(tiny.memory, range(tiny.bytes))
    seen = {(start.canonical(), run_compiled(rules, []).held)}
    # Machines, each with the operations that led there: the rules start with them.
    left: deque[tuple[ExhaustiveMachine, list[Operation]]] = deque([(start, [])])
    operations = list(_operations(tiny.memory, tiny.bytes))
    steps = racy = missed = added = 0
    while left:
        machine, taken = left.popleft()
        for operation in operations:
            is_dma = operation.kind in (OperationKind.DMA_READ, OperationKind.DMA_WRITE)
            if is_dma and machine.outstanding(operation.engine) == tiny.outstanding:
                continue
            next_machine, next_taken = machine.copy(), [*taken, operation]
            is_racy = next_machine.step(operation)
            found = run_compiled(rules, next_taken)
            is_reported = found.first is not None
            steps += 1
            racy += is_racy and is_reported
            missed += is_racy and not is_reported
            added += is_reported and not is_racy
            if is_racy or is_reported:
                continue
            key = next_machine.canonical(), found.held
            if key not in seen:
                seen.add(key)
                left.append((next_machine, next_taken))
    return Fixpoint(tiny, len(seen), steps, racy, missed, added)
