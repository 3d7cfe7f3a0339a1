"""Runs a function of the golden model on symbols, path by path, so that a solver can compare it.

Each comparison that the function branches on is a decision; every sequence of decisions is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from amaranth.hdl import Cat, Const, Mux, Value


class Paths:
    """All paths of a function, each with the conditions that lead to it."""

    def __init__(self) -> None:
        self._decided: list[bool] = []
        self._conditions: list[Value] = []

    def of(self, function: Callable[[], Any]) -> Iterator[tuple[Value, Any]]:
        """Condition and result of each path."""
        self._decided = []
        while True:
            self._conditions = []
            result = function()
            yield Cat(self._conditions, Const(1, 1)).all(), result
            while self._decided and not self._decided[-1]:
                self._decided.pop()
            if not self._decided:
                return
            self._decided[-1] = False

    def decide(self, condition: Value) -> bool:
        """The answer of this path to a question: first yes, later no."""
        place = len(self._conditions)
        if place == len(self._decided):
            self._decided.append(True)
        answer = self._decided[place]
        self._conditions.append(condition if answer else ~condition)
        return answer

    def joined(self, function: Callable[[], tuple[Any, ...]]) -> tuple[Number, ...]:
        """Results of a part of the golden code over all its paths, which are no decisions then."""
        outer = self._decided, self._conditions
        *others, (_, last) = self.of(function)
        self._decided, self._conditions = outer
        found = [value_of(each) for each in last]
        for condition, results in reversed(others):
            found = [
                Mux(condition, value_of(each), other)
                for each, other in zip(results, found, strict=True)
            ]
        return tuple(Number(self, _signed(each)) for each in found)

    def number(self, value: Value) -> Number:
        """A symbol with an unsigned value."""
        return Number(self, _signed(value))


class Number:
    """An integer of the golden model that is a value of the hardware."""

    def __init__(self, paths: Paths, value: Value) -> None:
        self._paths, self.value = paths, value

    def _with(self, value: Value) -> Number:
        return Number(self._paths, _signed(value))

    def __bool__(self) -> bool:
        return self._paths.decide(self.value.any())

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> Any:
        return self._with(self.value == value_of(other))

    def __lt__(self, other: Any) -> Number:
        return self._with(self.value < value_of(other))

    def __le__(self, other: Any) -> Number:
        return self._with(self.value <= value_of(other))

    def __gt__(self, other: Any) -> Number:
        return self._with(self.value > value_of(other))

    def __ge__(self, other: Any) -> Number:
        return self._with(self.value >= value_of(other))

    def __add__(self, other: Any) -> Number:
        return self._with(self.value + value_of(other))

    def __sub__(self, other: Any) -> Number:
        return self._with(self.value - value_of(other))

    def __mul__(self, other: Any) -> Number:
        return self._with(self.value * value_of(other))

    def __and__(self, other: Any) -> Number:
        if isinstance(other, int) and other >= 0 and other.bit_length() < len(self.value):
            return self._with(self.value[: other.bit_length()] & other)
        return self._with(self.value & value_of(other))

    def __or__(self, other: Any) -> Number:
        return self._with(self.value | value_of(other))

    def __rshift__(self, other: int) -> Number:
        return self._with(self.value >> other)

    def __lshift__(self, other: Any) -> Number:
        if isinstance(other, Number):
            return self._with(self.value << other.value[:-1].as_unsigned())
        return self._with(self.value << other)

    def __mod__(self, other: int) -> Number:
        """Rest of a power of two."""
        assert other & (other - 1) == 0
        return self._with(self.value[: other.bit_length() - 1] if other > 1 else Const(0, 1))

    def __rlshift__(self, other: int) -> Number:
        return self._with(Value.cast(other) << self.value[:-1].as_unsigned())

    def __neg__(self) -> Number:
        return self._with(-self.value)

    def bit_count(self) -> Number:
        return self._with(sum(self.value[:-1]))

    def bit_length(self) -> Number:
        length: Value = Const(0)
        for place, bit in enumerate(self.value[:-1], start=1):
            length = Mux(bit, place, length)
        return self._with(length)

    def __invert__(self) -> Number:
        return self._with(~self.value)

    __radd__, __rmul__, __rand__, __ror__ = __add__, __mul__, __and__, __or__


def _signed(value: Value) -> Value:
    return value if value.shape().signed else Cat(value, Const(0, 1)).as_signed()


def value_of(number: Any) -> Value:
    """A golden number, a symbol or not, as a value."""
    return number.value if isinstance(number, Number) else Value.cast(number)
