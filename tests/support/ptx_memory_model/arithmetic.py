"""Functions of the logic program on values, which are strings of digits.

Only numbers below a bound and those of the text are told apart, so that there are finitely many;
a result beyond them is ``overflow``, which :func:`solve` refuses.
"""

from __future__ import annotations

from collections.abc import Iterable

from clingo import Number, String, Symbol

_BOUND = 40
_OVERFLOW = "overflow"


class Arithmetic:
    """What the program calls.

    Parameters
    ----------
    numbers : iterable of int
        Numbers of the text.
    """

    def __init__(self, numbers: Iterable[int]) -> None:
        self._numbers = set(numbers)

    def _known(self, number: int, bits: int = 64) -> Symbol:
        if number < _BOUND or number in {known % (1 << bits) for known in self._numbers}:
            return String(str(number))
        return String(_OVERFLOW)

    def truth(self, value: Symbol) -> Symbol:
        """1 unless the value is 0."""
        return Number(int(value.string != "0"))

    def same(self, one: Symbol, other: Symbol) -> Symbol:
        """1 if both are one number."""
        return Number(int(one == other))

    def part(self, value: Symbol, offset: Symbol, size: Symbol) -> Symbol:
        """Some bytes of a value."""
        if not value.string.isdigit():
            return value
        number = int(value.string) >> 8 * offset.number
        return String(str(number % (1 << 8 * size.number)))

    def join(self, parts: Symbol) -> Symbol:
        """Value of all its bytes."""
        if len(parts.arguments) == 1:
            return parts.arguments[0].arguments[0]
        number, shift = 0, 0
        for part in parts.arguments:
            value, size = part.arguments
            if not value.string.isdigit():
                return value
            number |= int(value.string) << shift
            shift += 8 * size.number
        return String(str(number))

    def reduce(self, operation: Symbol, count: Symbol, voters: Symbol) -> Symbol:
        """Result of a barrier's reduction."""
        results = {
            "popc": count.number,
            "and": int(count.number == voters.number),
            "or": int(count.number > 0),
        }
        return String(str(results[operation.string]))

    def arrive(self, state: Symbol) -> list[Symbol]:
        """State of an mbarrier object behind an arrival: expected, missing, phases completed."""
        if state.string == _OVERFLOW:
            return [state]
        expected, missing, phase = map(int, state.string.split("/"))
        if phase > 8:
            return [String(_OVERFLOW)]
        if missing == 1:
            return [String(f"{expected}/{expected}/{phase + 1}")]
        return [String(f"{expected}/{missing - 1}/{phase}")]

    def passed(self, test: Symbol, state: Symbol, before: Symbol) -> Symbol:
        """Whether the phase that is asked for has completed."""
        if _OVERFLOW in (state.string, before.string):
            return String(_OVERFLOW)
        phase = int(state.string.split("/")[2])
        if test.string == "parity":
            return String(str(int(phase % 2 != int(before.string))))
        return String(str(int(phase != int(before.string.split("/")[2]))))

    def apply(
        self, name: Symbol, bits: Symbol, signed: Symbol, one: Symbol, other: Symbol
    ) -> Symbol:
        """An operation on two values."""
        if not (one.string.lstrip("-").isdigit() and other.string.lstrip("-").isdigit()):
            return String(_OVERFLOW)
        width = 1 << bits.number
        a, b = int(one.string) % width, int(other.string) % width
        if signed.number:
            a, b = (value - width if 2 * value >= width else value for value in (a, b))
        match name.string:
            case "mov":
                result = a
            case "add":
                result = a + b
            case "sub":
                result = a - b
            case "and":
                result = a & b
            case "or":
                result = a | b
            case "xor":
                result = a ^ b
            case "min":
                result = a if a < b else b
            case "max":
                result = b if a < b else a
            case "inc":
                result = a + 1 if a < b else 0
            case "dec":
                result = b if a == 0 or a > b else a - 1
            case "eq":
                result = int(a == b)
            case "ne":
                result = int(a != b)
            case "lt":
                result = int(a < b)
            case "le":
                result = int(a <= b)
            case "gt":
                result = int(a > b)
            case "ge":
                result = int(a >= b)
            case other_name:
                raise ValueError(other_name)
        return self._known(result % width, bits.number)
