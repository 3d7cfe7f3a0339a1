"""Integer arithmetic.

Everything wraps to the width of its type.  Division by zero yields all ones, and its remainder
the dividend, as on GPUs.

Ref: PTX ISA 9.0, Section 9.7.1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from racetrap.sim.gpu.executor.arithmetic.operations import OWN, InstructionTable, Operation, only
from racetrap.sim.gpu.executor.arithmetic.scalars import Scalar, wider
from racetrap.sim.gpu.ptx.module import Instruction

_U32 = np.dtype("u4")
INTEGER_INSTRUCTIONS = InstructionTable()


def divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Quotient rounded toward zero; all ones where ``b`` is 0."""
    if a.dtype.kind == "u":
        quotient = np.floor_divide(a, b)
    else:
        quotient = np.floor_divide(a - np.fmod(a, b), b)
    if not b.all():
        quotient[b == 0] = np.array(-1).astype(a.dtype)
    return quotient


def remainder(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Remainder with the sign of ``a``; ``a`` where ``b`` is 0."""
    rest = np.fmod(a, b)
    return rest if b.all() else np.where(b == 0, a, rest)


def _multiply_high_64(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """High half of the unsigned 128-bit product, from 32-bit halves."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a_low, a_high, b_low, b_high = a & low, a >> half, b & low, b >> half
    middle = a_high * b_low + (a_low * b_low >> half)
    carry = a_low * b_high + (middle & low)
    return a_high * b_high + (middle >> half) + (carry >> half)


def multiply_high(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """High half of the product."""
    if a.dtype.itemsize < 8:
        double = wider(a.dtype, 2 * a.dtype.itemsize)
        return (a.astype(double) * b.astype(double) >> 8 * a.dtype.itemsize).astype(a.dtype)
    if a.dtype.kind == "u":
        return _multiply_high_64(a, b)
    high = _multiply_high_64(a.view("u8"), b.view("u8")).view("i8")
    # A negative factor counts as 2**64 too much there.
    return high - np.where(a < 0, b, 0) - np.where(b < 0, a, 0)


def multiply_wide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whole product, twice as wide as the factors."""
    double = wider(a.dtype, 2 * a.dtype.itemsize)
    return a.astype(double) * b.astype(double)


def saturating(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """The function on s32 (``.sat``): the result clamped to the type's range."""

    def saturated(*sources: np.ndarray) -> np.ndarray:
        exact = function(*(source.astype("i8") for source in sources))
        return np.clip(exact, -(2**31), 2**31 - 1).astype("i4")

    return saturated


def _sum_difference(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    return np.maximum(a, b) - np.minimum(a, b) + c


_plain = INTEGER_INSTRUCTIONS.plain
_plain("i", "div", divide, OWN, OWN)
_plain("i", "rem", remainder, OWN, OWN)
_plain("i", "min", np.minimum, OWN, OWN)
_plain("i", "max", np.maximum, OWN, OWN)
_plain("i", "abs", np.absolute, OWN)
_plain("i", "neg", np.negative, OWN)
_plain("i", "sad", _sum_difference, OWN, OWN, OWN)


@INTEGER_INSTRUCTIONS.define("i", "add", "sub")
def _add(instruction: Instruction, last: Scalar) -> Operation:
    function: Callable[..., np.ndarray] = np.add if instruction.opcode == "add" else np.subtract
    if only(instruction, "sat"):
        function = saturating(function)
    return Operation(function, (last.dtype,), (last.dtype, last.dtype))


_PRODUCTS: dict[str, Callable[..., np.ndarray]] = {
    "lo": np.multiply,
    "hi": multiply_high,
    "wide": multiply_wide,
}


@INTEGER_INSTRUCTIONS.define("i", "mul", "mad")
def _multiply(instruction: Instruction, last: Scalar) -> Operation:
    adds = instruction.opcode == "mad"
    part, *rest = only(instruction, *_PRODUCTS, *(("sat",) if adds else ()))
    product = _PRODUCTS[part]
    result = wider(last.dtype, last.dtype.itemsize * (2 if part == "wide" else 1))
    if not adds:
        return Operation(product, (result,), (last.dtype, last.dtype))
    total: Callable[..., np.ndarray] = saturating(np.add) if "sat" in rest else np.add
    return Operation(
        lambda a, b, c: total(product(a, b), c), (result,), (last.dtype, last.dtype, result)
    )


@INTEGER_INSTRUCTIONS.define("i", "dp4a")
def _dp4a(instruction: Instruction, last: Scalar) -> Operation:
    kinds = [name[0] for name in instruction.modifiers]

    def dot(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        a4, b4 = (
            np.ascontiguousarray(part).view("i1" if kind == "s" else "u1").reshape(-1, 4)
            for part, kind in zip((a, b), kinds, strict=True)
        )
        total = (a4.astype("i8") * b4.astype("i8")).sum(axis=1)
        return (total + c).astype(c.dtype)

    return Operation(dot, (last.dtype,), (_U32, _U32, last.dtype))
