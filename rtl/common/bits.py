"""Selections among the bits of a vector, as trees of gates, a comparison and a sum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import add, and_, or_

from amaranth.hdl import Cat, Const, Mux, Value


def is_between(value: Value, low: int, high: int) -> Value:
    """Whether an unsigned number is one of ``low`` to ``high``.

    A bound that every number meets is not compared: lint would report the comparison.
    """
    rules = [*[value >= low] * (low > 0), *[value <= high] * (high < (1 << len(value)) - 1)]
    return reduce(and_, rules, Const(1, 1))


def is_less(one: Value, other: Value) -> Value:
    """Whether one unsigned number is less than another: a carry chain and nothing beside.

    For ``<``, synthesis may build the carry chain of the other order and an equality test.
    """
    return (one - other)[-1]


def lowest_set(bits: Value) -> Value:
    """Number of the lowest bit that is set; ``bits`` has a power-of-two width."""
    if len(bits) == 1:
        return Const(0, 1)
    if len(bits) == 2:
        return ~bits[0]
    half = len(bits) // 2
    is_low = bits[:half].any()
    return Cat(Mux(is_low, lowest_set(bits[:half]), lowest_set(bits[half:])), ~is_low)


def lowest_one_hot(bits: Value) -> Value:
    """The lowest bit that is set, alone; 0 if none is."""
    return Cat(bit & ~bits[:place].any() for place, bit in enumerate(bits))


def one_hot_number(select: Value) -> Value:
    """Number of the only bit that is set, 0 if none is."""
    width = max(len(select) - 1, 1).bit_length()
    return Cat(
        Cat(bit for place, bit in enumerate(select) if place >> digit & 1).any()
        for digit in range(width)
    )


def one_hot_select(select: Value, values: Iterable[Value]) -> Value:
    """The value whose bit of ``select`` is set, 0 if none is; of several, all bits set in any."""
    return _tree(
        or_,
        [
            value & chosen.replicate(len(value))
            for value, chosen in zip(values, select, strict=True)
        ],
    )


def total(values: Sequence[Value]) -> Value:
    """Sum of some values, at least one, as a tree.

    In a chain, each sum would be one bit wider and one addition later than the one before.
    """
    return _tree(add, values)


def _tree(operator: Callable[[Value, Value], Value], values: Sequence[Value]) -> Value:
    half = len(values) // 2
    if not half:
        return values[0]
    return operator(_tree(operator, values[:half]), _tree(operator, values[half:]))
