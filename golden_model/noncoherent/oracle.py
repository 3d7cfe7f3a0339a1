"""The exhaustive machine on a whole trace: the bytes that race, and the first operation of each.

Bytes interact only through the lines and granules that they share, so one machine for each byte is
exact; bytes that the same operations touch in the same way share one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from racetrap.golden_model.noncoherent.machine import ExhaustiveMachine
from racetrap.golden_model.noncoherent.ranges import common, widen
from racetrap.golden_model.trace.noncoherent.operations import (
    RANGE_KINDS,
    MemorySystem,
    Operation,
)

#: Maximum lines touched by all operations of a trace: some minutes.
MAX_STEPS = 1_000_000


class OracleLimitError(ValueError):
    """The trace is too long."""


class RacyBytes(NamedTuple):
    """Bytes that race.

    Parameters
    ----------
    first, last : int
        The bytes.
    operation : int
        Number of the operation at which the run becomes racy for them.
    """

    first: int
    last: int
    operation: int


class _Class(NamedTuple):
    """Bytes of a line that the same operations touch: numbers of these, and how they touch them."""

    first: int
    last: int
    signature: tuple[tuple[int, bool, bool], ...]


def _lines(memory: MemorySystem, operations: Sequence[Operation]) -> dict[int, list[int]]:
    """Numbers of the operations that touch each line."""
    lines: dict[int, list[int]] = defaultdict(list)
    steps, size = 0, memory.line_bytes
    for number, operation in enumerate(operations):
        if operation.kind not in RANGE_KINDS:
            continue
        for first, last in widen(operation.ranges, size):
            steps += (last + 1 - first) // size
            if steps > MAX_STEPS:
                raise OracleLimitError(
                    f"Operation {number} exceeds the oracle's limit of {MAX_STEPS} lines "
                    "touched by all operations of a trace"
                )
            for line in range(first, last + 1, size):
                lines[line].append(number)
    return lines


def _classes(
    memory: MemorySystem, operations: Sequence[Operation], line: int, numbers: Sequence[int]
) -> Iterator[_Class]:
    """Classes of the accessed bytes of a line."""
    end = line + memory.line_bytes
    cuts = set(range(line, end + 1, memory.granule_bytes))
    parts = {}
    for number in numbers:
        parts[number] = list(common(operations[number].ranges, line, end - 1))
        for first, last in parts[number]:
            cuts |= {first, last + 1}
    ordered = sorted(cuts)
    for first, after in pairwise(ordered):
        granule = first & -memory.granule_bytes
        signature = tuple(
            (number, _meets(parts[number], first, after - 1),
             _meets(parts[number], granule, granule + memory.granule_bytes - 1))
            for number in numbers
        )  # fmt: skip
        yield _Class(first, after - 1, signature)


def _meets(ranges: Iterable[tuple[int, int]], first: int, last: int) -> bool:
    return any(low <= last and high >= first for low, high in ranges)


class _CommonOperations:
    """Operations without a range, which apply to every byte."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._numbers: dict[tuple[int, int], list[int]] = defaultdict(list)
        for number, operation in enumerate(operations):
            if operation.kind not in RANGE_KINDS:
                self._numbers[operation.kind, operation.engine].append(number)
        self._end = len(operations)

    def between(self, after: int, before: int | None) -> list[int]:
        """The first of each kind, ascending: further ones have no effect."""
        found = []
        for numbers in self._numbers.values():
            at = bisect_left(numbers, after)
            if at < len(numbers) and numbers[at] < (self._end if before is None else before):
                found.append(numbers[at])
        return sorted(found)


def _order(signature: Sequence[tuple[int, bool, bool]], shared: _CommonOperations) -> list[int]:
    """Numbers of all operations that a byte's machine must see."""
    order: list[int] = []
    for number, _, _ in signature:
        order += [*shared.between(order[-1] + 1 if order else 0, number), number]
    return order + shared.between(order[-1] + 1, None)


def racy_bytes(memory: MemorySystem, operations: Sequence[Operation]) -> list[RacyBytes]:
    """Bytes that race in some possible run, in the order of their operations.

    Parameters
    ----------
    memory : MemorySystem
        The hardware.
    operations : sequence of Operation
        The whole trace.

    Raises
    ------
    OracleLimitError
        If the trace is too long.
    """
    shared = _CommonOperations(operations)
    verdicts: dict[tuple[tuple[int, bool, bool], ...], int | None] = {}
    racy = []
    for line, numbers in sorted(_lines(memory, operations).items()):
        for first, last, signature in _classes(memory, operations, line, numbers):
            if signature not in verdicts:
                order = _order(signature, shared)
                verdicts[signature] = _first_racy(memory, operations, order, first)
            number = verdicts[signature]
            if number is not None:
                racy.append(RacyBytes(first, last, number))
    return sorted(racy, key=lambda one: (one.operation, one.first))


def _first_racy(
    memory: MemorySystem, operations: Sequence[Operation], order: Iterable[int], byte: int
) -> int | None:
    machine = ExhaustiveMachine(memory, [byte])
    return next((number for number in order if machine.step(operations[number])), None)
