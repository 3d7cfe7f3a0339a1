"""Logic, shifts and bit fields.

Shifts by the width or more yield zeros, or copies of the sign.

Ref: PTX ISA 9.0, Sections 9.7.1 (bfe, bfi, popc and others), 9.7.8 (logic, shifts) and
9.7.9.7 (prmt).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from racetrap.sim.gpu.executor.arithmetic.operations import OWN, InstructionTable, Operation, only
from racetrap.sim.gpu.executor.arithmetic.scalars import Scalar, unsigned
from racetrap.sim.gpu.ptx.module import Instruction

_U32 = np.dtype("u4")
BIT_INSTRUCTIONS = InstructionTable()
_OCTET_ONES = np.array([value.bit_count() for value in range(256)], dtype=np.uint8)
_OCTET_REVERSED = np.array([int(f"{value:08b}"[::-1], 2) for value in range(256)], dtype=np.uint8)


def _octets(a: np.ndarray) -> np.ndarray:
    """Bytes of each value, lowest first."""
    return np.ascontiguousarray(a).view(np.uint8).reshape(len(a), -1)


def count_ones(a: np.ndarray) -> np.ndarray:
    """Number of bits set (``popc``)."""
    return _OCTET_ONES[_octets(a)].sum(axis=1, dtype=np.uint32)


def _smear(a: np.ndarray) -> np.ndarray:
    """All bits below the highest one set as well."""
    shift = 1
    while shift < 8 * a.dtype.itemsize:
        a = a | a >> a.dtype.type(shift)
        shift *= 2
    return a


def _leading_zeros(a: np.ndarray) -> np.ndarray:
    return np.uint32(8 * a.dtype.itemsize) - count_ones(_smear(a))


def _reverse(a: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(_OCTET_REVERSED[_octets(a)][:, ::-1]).view(a.dtype).reshape(-1)


def _find(a: np.ndarray) -> np.ndarray:
    """Position of the highest bit that is no sign; all ones if there is none."""
    if a.dtype.kind == "i":
        a = np.where(a < 0, ~a, a).view(unsigned(a.dtype))
    return count_ones(_smear(a)) - np.uint32(1)


def _find_shift(a: np.ndarray) -> np.ndarray:
    found = _find(a)
    return np.where(found == 0xFFFFFFFF, found, np.uint32(8 * a.dtype.itemsize - 1) - found)


def _low_ones(count: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """So many ones at the low end; all of them from the width on."""
    one = np.ones(len(count), dtype)
    return np.left_shift(one, count.astype(dtype)) - one


def extract(a: np.ndarray, position: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Bit field of ``a``, filled above with zeros or, in a signed type, its sign (``bfe``)."""
    plain, width = a.view(unsigned(a.dtype)), 8 * a.dtype.itemsize
    position, length = position & 0xFF, length & 0xFF
    shift = position.astype(plain.dtype)
    field = _low_ones(length, plain.dtype)
    value = plain >> shift & field
    if a.dtype.kind == "i":
        top = np.minimum(position + length - np.uint32(1), width - 1).astype(plain.dtype)
        sign = (plain >> top & plain.dtype.type(1)).astype(bool) & (length != 0)
        inside = field & (np.full(len(a), -1).astype(plain.dtype) >> shift)
        value = np.where(sign, value | ~inside, value)
    return value.view(a.dtype)


def insert(a: np.ndarray, b: np.ndarray, position: np.ndarray, length: np.ndarray) -> np.ndarray:
    """``b`` with a bit field replaced by the low bits of ``a`` (``bfi``)."""
    shift = (position & 0xFF).astype(a.dtype)
    field = _low_ones(length & 0xFF, a.dtype) << shift
    return b & ~field | a << shift & field


#: Selected bytes of each mode of ``prmt``, from the selector's low two bits.
_MODES: dict[str, Callable[[int, int], int]] = {
    "f4e": lambda start, byte: start + byte,
    "b4e": lambda start, byte: (start - byte) % 8,
    "rc8": lambda start, byte: start,
    "ecl": lambda start, byte: max(start, byte),
    "ecr": lambda start, byte: min(start, byte),
    "rc16": lambda start, byte: 2 * (start & 1) + (byte & 1),
}


def permute(a: np.ndarray, b: np.ndarray, selector: np.ndarray) -> np.ndarray:
    """Bytes picked by the selector's nibbles; a nibble's high bit asks for its sign (``prmt``)."""
    octets = np.concatenate([_octets(a), _octets(b)], axis=1)
    nibbles = selector[:, None] >> np.arange(0, 16, 4, dtype=np.uint32) & 0xF
    picked = np.take_along_axis(octets, (nibbles & 7).astype(np.intp), axis=1)
    signs = np.where(picked & 0x80, 0xFF, 0).astype(np.uint8)
    return np.where(nibbles & 8, signs, picked).view(_U32).reshape(-1)


@BIT_INSTRUCTIONS.define("i", "prmt")
def _prmt(instruction: Instruction, last: Scalar) -> Operation:
    modes = only(instruction, *_MODES)
    if not modes:
        return Operation(permute, (_U32,), (_U32,) * 3)
    select = _MODES[modes[0]]
    selectors = np.array(
        [sum(select(start, byte) << 4 * byte for byte in range(4)) for start in range(4)],
        dtype=np.uint32,
    )
    return Operation(lambda a, b, c: permute(a, b, selectors[c & 3]), (_U32,), (_U32,) * 3)


def _look_up(a: np.ndarray, b: np.ndarray, c: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Each bit by the truth table of three inputs that all lanes have alike (``lop3``)."""
    result = np.zeros_like(a)
    for row in range(8):
        if int(table[0]) >> row & 1:
            result |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
    return result


_plain = BIT_INSTRUCTIONS.plain
_plain("ip", "and", np.bitwise_and, OWN, OWN)
_plain("ip", "or", np.bitwise_or, OWN, OWN)
_plain("ip", "xor", np.bitwise_xor, OWN, OWN)
_plain("ip", "not", np.bitwise_not, OWN)
_plain("i", "brev", _reverse, OWN)
_plain("i", "cnot", lambda a: a == 0, OWN)
_plain("i", "lop3", _look_up, _U32, _U32, _U32, _U32)
_plain("i", "bfe", extract, OWN, _U32, _U32)
_plain("i", "bfi", insert, OWN, OWN, _U32, _U32)
_plain("i", "popc", count_ones, OWN, result=_U32)
_plain("i", "clz", _leading_zeros, OWN, result=_U32)


@BIT_INSTRUCTIONS.define("i", "shl", "shr")
def _shift(instruction: Instruction, last: Scalar) -> Operation:
    only(instruction)
    function = np.left_shift if instruction.opcode == "shl" else np.right_shift
    if last.bits == 32:  # NumPy itself clamps the count, also one that looks negative
        return Operation(function, (last.dtype,), (last.dtype, last.dtype))

    def shift(a: np.ndarray, count: np.ndarray) -> np.ndarray:
        return function(a, np.minimum(count, np.uint32(last.bits)).astype(a.dtype))

    return Operation(shift, (last.dtype,), (last.dtype, _U32))


@BIT_INSTRUCTIONS.define("i", "shf")
def _funnel(instruction: Instruction, last: Scalar) -> Operation:
    direction, mode = only(instruction, "l", "r", "wrap", "clamp")

    def funnel(low: np.ndarray, high: np.ndarray, count: np.ndarray) -> np.ndarray:
        amount = count & 31 if mode == "wrap" else np.minimum(count, np.uint32(32))
        both = high.astype(np.uint64) << np.uint64(32) | low
        if direction == "r":
            return (both >> amount.astype(np.uint64)).astype(np.uint32)
        return (both << amount.astype(np.uint64) >> np.uint64(32)).astype(np.uint32)

    return Operation(funnel, (_U32,), (_U32,) * 3)


@BIT_INSTRUCTIONS.define("i", "bmsk")
def _mask(instruction: Instruction, last: Scalar) -> Operation:
    """Ones from a position on, so many (``bmsk``)."""
    clamps = only(instruction, "clamp", "wrap") == ("clamp",)

    def mask(position: np.ndarray, width: np.ndarray) -> np.ndarray:
        low, length = (position & 31).astype(np.uint64), (width & 31).astype(np.uint64)
        if clamps:
            low = np.where(position < 32, low, np.uint64(32))
            length = np.where(width < 32, length, np.uint64(32))
        # What lies above the register is lost.
        return (((np.uint64(1) << length) - np.uint64(1)) << low).astype(np.uint32)

    return Operation(mask, (_U32,), (_U32, _U32))


@BIT_INSTRUCTIONS.define("i", "bfind")
def _bfind(instruction: Instruction, last: Scalar) -> Operation:
    function = _find_shift if only(instruction, "shiftamt") else _find
    return Operation(function, (_U32,), (last.dtype,))
