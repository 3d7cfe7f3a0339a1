"""Both modes against the exhaustive machine on random traces of tiny machines.

The first operation at which the run is racy is compared.  A mode that has none, or a
later one, has missed a race; a mode that has an earlier one has added a race.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from racetrap.golden_model.noncoherent.noncoherent import MODES, Noncoherent
from racetrap.golden_model.noncoherent.oracle import racy_bytes
from racetrap.golden_model.noncoherent.races import Race
from racetrap.golden_model.noncoherent.rules import is_harmless_alone
from racetrap.golden_model.trace.noncoherent.operations import MemorySystem, Operation
from racetrap.sim.accelerator.compiled.detector import run_compiled
from racetrap.sim.accelerator.random_operations import random_memory, random_operations

_MOST_OPERATIONS = 10
#: Traces of a part: small enough to be shared among workers.
_PART = 1000
_NEVER = 1 << 30


@dataclass(frozen=True)
class RandomPart:
    """Traces with the numbers from ``first`` to ``last`` of a seed."""

    seed: int
    first: int
    last: int


class Sums:
    """Numbers, lists and counters that add up, each by its name."""

    def add(self, other: Self) -> None:
        """Add those of other traces."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


@dataclass
class ModeCounts(Sums):
    """A mode against the machine.

    Parameters
    ----------
    same, missed, added : int
        Traces where the first racy operation is the same, and where the mode has it later or
        not, or earlier.
    missed_by_rule : Counter of str
        Missed ones by the rules that mode ``strict`` reports there.
    added_by_class : Counter of str
        Added ones: whether all that was reported there is false sharing, or else its rules.
    """

    same: int = 0
    missed: int = 0
    added: int = 0
    missed_by_rule: Counter[str] = field(default_factory=Counter)
    added_by_class: Counter[str] = field(default_factory=Counter)


@dataclass
class RandomResult:
    """Result of a part, or of all parts.

    Parameters
    ----------
    traces, operations, racy : int
        Traces, their operations, and traces that the machine finds racy.
    modes : dict of str to ModeCounts
        Counts of each mode.
    differing : list of int
        Numbers of traces where mode ``strict`` differs from the machine.
    """

    traces: int = 0
    operations: int = 0
    racy: int = 0
    modes: dict[str, ModeCounts] = field(
        default_factory=lambda: {mode: ModeCounts() for mode in MODES}
    )
    differing: list[int] = field(default_factory=list)


def parts_of(seed: int, traces: int) -> list[RandomPart]:
    """Parts with a given number of traces in all."""
    return [
        RandomPart(seed, first, min(first + _PART, traces) - 1) for first in range(0, traces, _PART)
    ]


def random_case(seed: int, number: int) -> tuple[MemorySystem, list[Operation]]:
    """A machine with two or three lines, and up to ten operations on it."""
    generator = random.Random(f"{seed}-{number}")
    memory = random_memory(generator)
    size = generator.choice((2, 3)) * memory.line_bytes
    count = generator.randint(1, _MOST_OPERATIONS)
    return memory, random_operations(generator, memory, count, size)


def run_part(part: RandomPart) -> RandomResult:
    """Compare the traces of a part."""
    result = RandomResult()
    for number in range(part.first, part.last + 1):
        memory, operations = random_case(part.seed, number)
        racy = racy_bytes(memory, operations)
        due = racy[0].operation if racy else None
        result.traces += 1
        result.operations += len(operations)
        result.racy += due is not None
        firsts = {mode: _first(Noncoherent(memory, mode), operations) for mode in MODES}
        for mode, (own, found) in firsts.items():
            _count(result.modes[mode], due, own, firsts["strict"][1], found)
        if firsts["strict"][0] != due:
            result.differing.append(number)
    return result


def _first(detector: Noncoherent, operations: Sequence[Operation]) -> tuple[int | None, list[Race]]:
    """Number of the first operation that breaks a rule, and the races that it finds."""
    found = run_compiled(detector, operations)
    return found.first, [race for race in found.races if race.later.number == found.first]


def _count(
    counts: ModeCounts, due: int | None, own: int | None, strict: Sequence[Race],
    found: Sequence[Race],
) -> None:  # fmt: skip
    if own == due:
        counts.same += 1
    elif (_NEVER if own is None else own) > (_NEVER if due is None else due):
        counts.missed += 1
        counts.missed_by_rule[_rules(strict)] += 1
    else:
        counts.added += 1
        is_shared = all(is_harmless_alone(one.rule, one.earlier.kind, one.overlap) for one in found)
        counts.added_by_class["false sharing" if is_shared else _rules(found)] += 1


def _rules(findings: Iterable[Race]) -> str:
    return ", ".join(sorted({one.rule.value for one in findings}))


def merged(results: Iterable[RandomResult]) -> RandomResult:
    """Sums over all parts."""
    total = RandomResult()
    for result in results:
        total.traces += result.traces
        total.operations += result.operations
        total.racy += result.racy
        total.differing += result.differing
        for mode, counts in result.modes.items():
            total.modes[mode].add(counts)
    return total
