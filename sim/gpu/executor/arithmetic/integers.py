"""Integer arithmetic.

Everything wraps to the width of its type.  Division by zero yields all ones, and its remainder
the dividend, as on GPUs.

Ref: PTX ISA 9.0, Section 9.7.1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from racetrap.sim.gpu.executor.arithmetic.operations import OWN, InstructionTable, Operation, only
from racetrap.sim.gpu.executor.arithmetic.scalars import Scalar, unsigned, wider
from racetrap.sim.gpu.ptx.module import Instruction

_U32, _BOOL = np.dtype("u4"), np.dtype(bool)
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


def _carried_sum(a: np.ndarray, b: np.ndarray, carry: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sum with the carry, and whether it carries."""
    part = a + b
    total = part + carry.astype(a.dtype)
    return total, (part < a) | (total < part)


def _borrowed_difference(
    a: np.ndarray, b: np.ndarray, borrow: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Difference less the borrow, and whether it borrows."""
    part = a - b
    total = part - borrow.astype(a.dtype)
    return total, (a < b) | (part < total)


def _extended(
    function: Callable[..., tuple[np.ndarray, np.ndarray]], instruction: Instruction, last: Scalar,
    parts: int,
) -> Operation:  # fmt: skip
    """Operation of a chain: of a sum of unsigned numbers with the carry of the one before.

    Its carry is a further source if it takes one (``addc``), and a further result if it gives one
    (``.cc``).
    """
    takes, gives = instruction.opcode.endswith("c"), "cc" in instruction.modifiers
    sources = (last.dtype,) * parts + (_BOOL,) * takes

    def extended(*rows: np.ndarray) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        plain = [row.view(unsigned(row.dtype)) for row in rows[:parts]]
        carry = rows[-1] if takes else np.zeros(len(rows[0]), bool)
        total, out = function(*plain, carry)
        total = total.view(last.dtype)
        return (total, out) if gives else total

    return Operation(extended, (last.dtype,) + (_BOOL,) * gives, sources)


@INTEGER_INSTRUCTIONS.define("i", "addc", "subc")
def _add_carry(instruction: Instruction, last: Scalar) -> Operation:
    only(instruction, "cc")
    adds = instruction.opcode.startswith("add")
    return _extended(_carried_sum if adds else _borrowed_difference, instruction, last, 2)


@INTEGER_INSTRUCTIONS.define("i", "add", "sub")
def _add(instruction: Instruction, last: Scalar) -> Operation:
    if "cc" in instruction.modifiers:
        return _add_carry(instruction, last)
    function: Callable[..., np.ndarray] = np.add if instruction.opcode == "add" else np.subtract
    if only(instruction, "sat"):
        function = saturating(function)
    return Operation(function, (last.dtype,), (last.dtype, last.dtype))


_PRODUCTS: dict[str, Callable[..., np.ndarray]] = {
    "lo": np.multiply,
    "hi": multiply_high,
    "wide": multiply_wide,
}


@INTEGER_INSTRUCTIONS.define("i", "madc")
def _multiply_carry(instruction: Instruction, last: Scalar) -> Operation:
    part, *_ = only(instruction, "lo", "hi", "cc")
    product = _PRODUCTS[part]

    def total(
        a: np.ndarray, b: np.ndarray, c: np.ndarray, carry: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        # Only the high half depends on the signs.
        high = product(a.view(last.dtype), b.view(last.dtype)).view(a.dtype)
        return _carried_sum(high, c, carry)

    return _extended(total, instruction, last, 3)


@INTEGER_INSTRUCTIONS.define("i", "mul24", "mad24")
def _multiply_24(instruction: Instruction, last: Scalar) -> Operation:
    """Low or high 32 bits of the 48 of a product of 24-bit numbers."""
    (part,) = only(instruction, "lo", "hi")
    shift = np.int64(0 if part == "lo" else 16)
    adds = instruction.opcode == "mad24"

    def product(a: np.ndarray, b: np.ndarray, *c: np.ndarray) -> np.ndarray:
        # Shifted up and down, so that the 24th bit is the sign.
        low, high = ((row << 8 >> 8).astype("i8") for row in (a, b))
        found = (low * high >> shift).astype(last.dtype)
        return found + c[0] if adds else found

    return Operation(product, (last.dtype,), (last.dtype,) * (2 + adds))


@INTEGER_INSTRUCTIONS.define("i", "mul", "mad")
def _multiply(instruction: Instruction, last: Scalar) -> Operation:
    if "cc" in instruction.modifiers:
        return _multiply_carry(instruction, last)
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
