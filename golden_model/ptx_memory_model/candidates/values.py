"""Values of a program before memory decides what is read: constants, results, operations.

Ref: PTX ISA 9.0, Section 9.7.13.5 (atom: what each operation computes).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model.litmus.instructions import DataType


@dataclass(frozen=True)
class Constant:
    """A number."""

    number: int


class Result(NamedTuple):
    """Result of an operation of a thread: the value read, or that of a barrier's reduction.

    Parameters
    ----------
    thread : int
        The thread.
    step : int
        Number of the operation in its thread.
    """

    thread: int
    step: int


@dataclass(frozen=True)
class Operation:
    """A function of other values."""

    name: str
    type: DataType
    operands: tuple[Value, ...]

    def negation(self) -> Operation | None:
        """The opposite comparison, if this is a comparison."""
        name = _NEGATIONS.get(self.name)
        return None if name is None else Operation(name, self.type, self.operands)


Value = Constant | Result | Operation


def _signed(number: int, bits: int) -> int:
    return number - (1 << bits) if number >> (bits - 1) else number


def _arrive(state: int) -> int:
    """State of an mbarrier object after an arrival: 32 bits of completed phases, 16 of pending
    arrivals, 16 of arrivals in a phase."""
    phase, missing, expected = state >> 32, state >> 16 & 0xFFFF, state & 0xFFFF
    if missing == 1:
        return (phase + 1) << 32 | expected << 16 | expected
    return state - (1 << 16)


_NEGATIONS = MappingProxyType({
    "eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt",
})  # fmt: skip
_FUNCTIONS: Mapping[str, Callable[..., int]] = MappingProxyType({
    "mov": lambda a: a,
    "exch": lambda old, a: a,
    "cas": lambda old, compare, a: a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "inc": lambda old, limit: 0 if old >= limit else old + 1,
    "dec": lambda old, limit: limit if old == 0 or old > limit else old - 1,
    "min": min,
    "max": max,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "arrive": _arrive,
    "phase_differs": lambda now, before: (now >> 32) != (before >> 32),
    "parity_differs": lambda now, parity: (now >> 32 & 1) != parity,
})  # fmt: skip


def _compute(name: str, data_type: DataType, numbers: tuple[int, ...]) -> int:
    mask = (1 << data_type.bits) - 1
    numbers = tuple(number & mask for number in numbers)
    if data_type.is_signed:
        numbers = tuple(_signed(number, data_type.bits) for number in numbers)
    return int(_FUNCTIONS[name](*numbers)) & mask


def operate(name: str, data_type: DataType, *operands: Value) -> Value:
    """Value of a function of ``operands``, computed as far as it does not depend on memory.

    A value XORed with or subtracted from itself is 0 and depends on nothing, as is one ANDed with
    0.
    """
    if name in ("exch", "cas"):
        return operate("mov", data_type, operands[-1])
    if name in ("eq", "ne"):
        data_type = DataType(f"b{data_type.bits}")
    numbers = [operand.number for operand in operands if isinstance(operand, Constant)]
    if len(numbers) == len(operands):
        return Constant(_compute(name, data_type, tuple(numbers)))
    if name in ("xor", "sub") and operands[0] == operands[1]:
        return Constant(0)
    if name == "and" and 0 in numbers:
        return Constant(0)
    return Operation(name, data_type, operands)


def results_in(value: Value) -> frozenset[Result]:
    """Results that a value depends on."""
    if isinstance(value, Result):
        return frozenset((value,))
    if isinstance(value, Operation):
        return frozenset().union(*map(results_in, value.operands))
    return frozenset()


def evaluate(value: Value, result: Callable[[Result], int]) -> int:
    """The number of a value; ``result`` gives the results of operations."""
    if isinstance(value, Constant):
        return value.number
    if isinstance(value, Result):
        return result(value)
    numbers = tuple(evaluate(operand, result) for operand in value.operands)
    return _compute(value.name, value.type, numbers)
