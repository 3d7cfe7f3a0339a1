"""Float arithmetic.

Approximate instructions yield the value of f64 arithmetic rounded to their type, which is
closer than hardware promises.

Ref: PTX ISA 9.0, Sections 9.7.3 and 9.7.4.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from racetrap.sim.gpu.executor.arithmetic.operations import InstructionTable, Operation, only
from racetrap.sim.gpu.executor.arithmetic.rounded import rounded
from racetrap.sim.gpu.executor.arithmetic.rounding import (
    ROUNDINGS,
    fused_halves,
    narrow,
    sum_to_odd,
)
from racetrap.sim.gpu.executor.arithmetic.scalars import Scalar, unsigned
from racetrap.sim.gpu.ptx.module import Instruction

Function = Callable[..., np.ndarray]

FLOAT_INSTRUCTIONS = InstructionTable()


def flush(a: np.ndarray) -> np.ndarray:
    """Subnormal values made zero with their sign (``.ftz``)."""
    return np.where(np.abs(a) < np.finfo(a.dtype).tiny, np.copysign(a.dtype.type(0), a), a)


def saturate(a: np.ndarray) -> np.ndarray:
    """Clamped to 0 to 1, NaN to 0 (``.sat``)."""
    return np.fmin(np.fmax(a, a.dtype.type(0)), a.dtype.type(1))


def finish(
    function: Function, flags: tuple[str, ...], flushed: tuple[str, ...] = ("f2", "f4")
) -> Function:
    """The function with the effects of ``.ftz`` (on values of types ``flushed``) and ``.sat``."""
    if not {"ftz", "sat"} & set(flags):
        return function

    def flush_some(a: np.ndarray) -> np.ndarray:
        return flush(a) if "ftz" in flags and a.dtype.str[1:] in flushed else a

    def finished(*sources: np.ndarray) -> np.ndarray:
        result = flush_some(function(*map(flush_some, sources)))
        return saturate(result) if "sat" in flags else result

    return finished


def _mode(flags: tuple[str, ...]) -> str:
    return next((flag for flag in flags if flag in ROUNDINGS), "rn")


def _through_f64(function: Function, mode: str) -> Function:
    """A function computed in f64, whose result has room enough for one more rounding."""
    return lambda *sources: narrow(
        function(*(source.astype("f8") for source in sources)), sources[0].dtype, mode
    )


def _sum_of_halves(mode: str, negate: bool) -> Function:
    def total(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        wide = b.astype("f8")
        return narrow(sum_to_odd(a.astype("f8"), -wide if negate else wide), a.dtype, mode)

    return total


_BASIC: dict[str, tuple[Function, int]] = {
    "add": (np.add, 2),
    "sub": (np.subtract, 2),
    "mul": (np.multiply, 2),
    "div": (np.divide, 2),
    "rcp": (np.reciprocal, 1),
    "sqrt": (np.sqrt, 1),
}


@FLOAT_INSTRUCTIONS.define("f", *_BASIC)
def _basic(instruction: Instruction, last: Scalar) -> Operation:
    flags = only(instruction, *ROUNDINGS, "ftz", "sat", "approx", "full")
    function, count = _BASIC[instruction.opcode]
    mode = _mode(flags)
    if mode != "rn" and last.bits != 16:
        function = rounded(instruction.opcode, last.dtype, mode)
    elif mode != "rn" and instruction.opcode in ("add", "sub"):
        function = _sum_of_halves(mode, instruction.opcode == "sub")
    elif mode != "rn":
        function = _through_f64(function, mode)
    return Operation(finish(function, flags), (last.dtype,), (last.dtype,) * count)


@FLOAT_INSTRUCTIONS.define("f", "fma", "mad")
def _fma(instruction: Instruction, last: Scalar) -> Operation:
    flags = only(instruction, *ROUNDINGS, "ftz", "sat")
    mode = _mode(flags)
    function: Function = (
        rounded("fma", last.dtype, mode)
        if last.bits != 16
        else (lambda a, b, c: fused_halves(a, b, c, mode))
    )
    return Operation(finish(function, flags), (last.dtype,), (last.dtype,) * 3)


_APPROXIMATE: dict[str, Function] = {
    "rsqrt": lambda a: 1 / np.sqrt(a),
    "sin": np.sin,
    "cos": np.cos,
    "ex2": np.exp2,
    "lg2": np.log2,
    "tanh": np.tanh,
}


@FLOAT_INSTRUCTIONS.define("f", *_APPROXIMATE)
def _approximate(instruction: Instruction, last: Scalar) -> Operation:
    flags = only(instruction, "approx", "ftz")
    function = _through_f64(_APPROXIMATE[instruction.opcode], "rn")
    return Operation(finish(function, flags), (last.dtype,), (last.dtype,))


def _combine_equal(logic: Function, a: np.ndarray, b: np.ndarray, other: Function) -> np.ndarray:
    """Of equal values only zeros can differ: in their sign, which ``logic`` decides."""
    bits = unsigned(a.dtype)
    same = logic(np.ascontiguousarray(a).view(bits), np.ascontiguousarray(b).view(bits))
    return np.where(a == b, same.view(a.dtype), other(a, b))


def minimum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The lesser; the other one of a NaN; -0 is less than +0."""
    return _combine_equal(np.bitwise_or, a, b, np.fmin)


def maximum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The greater; the other one of a NaN; +0 is greater than -0."""
    return _combine_equal(np.bitwise_and, a, b, np.fmax)


@FLOAT_INSTRUCTIONS.define("f", "min", "max")
def _extreme(instruction: Instruction, last: Scalar) -> Operation:
    flags = only(instruction, "ftz", "NaN")
    function: Function = minimum if instruction.opcode == "min" else maximum
    if "NaN" in flags:
        function = np.minimum if instruction.opcode == "min" else np.maximum
    return Operation(finish(function, flags), (last.dtype,), (last.dtype,) * 2)


@FLOAT_INSTRUCTIONS.define("f", "abs", "neg")
def _sign(instruction: Instruction, last: Scalar) -> Operation:
    flags = only(instruction, "ftz")
    function = np.absolute if instruction.opcode == "abs" else np.negative
    return Operation(finish(function, flags), (last.dtype,), (last.dtype,))


@FLOAT_INSTRUCTIONS.define("f", "copysign")
def _copysign(instruction: Instruction, last: Scalar) -> Operation:
    only(instruction)
    return Operation(lambda a, b: np.copysign(b, a), (last.dtype,), (last.dtype,) * 2)


def _subnormal(a: np.ndarray) -> np.ndarray:
    return (a != 0) & (np.abs(a) < np.finfo(a.dtype).tiny)


_TESTS: dict[str, Function] = {
    "finite": np.isfinite,
    "infinite": np.isinf,
    "number": lambda a: ~np.isnan(a),
    "notanumber": np.isnan,
    "normal": lambda a: np.isfinite(a) & (np.abs(a) >= np.finfo(a.dtype).tiny),
    "subnormal": _subnormal,
}


@FLOAT_INSTRUCTIONS.define("f", "testp")
def _testp(instruction: Instruction, last: Scalar) -> Operation:
    (test,) = only(instruction, *_TESTS)
    return Operation(_TESTS[test], (np.dtype(bool),), (last.dtype,))
