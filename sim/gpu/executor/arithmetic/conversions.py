"""Conversions between all integer and float types.

Ref: PTX ISA 9.0, Section 9.7.9.21 (cvt).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.arithmetic.floats import finish
from racetrap.sim.gpu.executor.arithmetic.operations import InstructionTable, Operation, only
from racetrap.sim.gpu.executor.arithmetic.rounded import rounded
from racetrap.sim.gpu.executor.arithmetic.rounding import ROUNDINGS, narrow, sum_to_odd
from racetrap.sim.gpu.executor.arithmetic.scalars import SCALARS, Scalar
from racetrap.sim.gpu.ptx.module import Instruction

Function = Callable[[np.ndarray], np.ndarray]

CONVERT_INSTRUCTIONS = InstructionTable()

_INTEGRAL: dict[str, Callable[..., np.ndarray]] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}


def integer_to_integer(a: np.ndarray, to: np.dtype, saturating: bool) -> np.ndarray:
    """Cut or extended, or clamped to the range of ``to``."""
    if saturating:
        low = max(np.iinfo(to).min, np.iinfo(a.dtype).min)
        high = min(np.iinfo(to).max, np.iinfo(a.dtype).max)
        a = np.clip(a, a.dtype.type(low), a.dtype.type(high))
    return a.astype(to)


def integer_to_float(a: np.ndarray, to: np.dtype, mode: str) -> np.ndarray:
    """Rounded once, in every mode."""
    if mode == "rn":
        return a.astype(to)
    # Both halves are exact in f64, so the sum of them is all that can be inexact.
    low = (a & a.dtype.type(min(0xFFFFFFFF, np.iinfo(a.dtype).max))).astype("f8")
    high = (a.astype("i8" if a.dtype.kind == "i" else "u8") >> 32).astype("f8") * 2.0**32
    if a.dtype.itemsize < 8:
        low, high = a.astype("f8"), np.zeros(len(a))
    if to == np.float64:
        return rounded("add", to, mode)(high, low)
    return narrow(sum_to_odd(high, low), to, mode)


def float_to_integer(a: np.ndarray, to: np.dtype, rounding: str) -> np.ndarray:
    """Rounded to an integer and clamped to the range of ``to``.

    A NaN becomes 0, but the sign bit alone when both types are of 64 bits, as GPUs do.
    """
    whole = _INTEGRAL[rounding](a.astype("f8"))
    limits = np.iinfo(to)
    # The upper limit of 64-bit types is no f64: what reaches it is put in afterwards.
    high = whole >= float(limits.max)
    inside = np.where(high | np.isnan(whole), 0.0, np.maximum(whole, float(limits.min)))
    result = inside.astype(to)
    result[high] = limits.max
    if a.dtype == np.float64:
        result[np.isnan(a)] = np.array(1 << 8 * to.itemsize - 1, "u8").astype(to)
    return result


def _between_floats(to: np.dtype, flags: tuple[str, ...]) -> Function:
    integral = next((_INTEGRAL[flag] for flag in flags if flag in _INTEGRAL), None)
    mode = next((flag for flag in flags if flag in ROUNDINGS), "rn")

    def convert(a: np.ndarray) -> np.ndarray:
        return narrow(integral(a) if integral else a, to, mode)

    return convert


def _plain(to: np.dtype, source: np.dtype, flags: tuple[str, ...]) -> Function:
    """The conversion without ``.ftz`` and, of floats, without ``.sat``."""
    if to.kind == "f" and source.kind == "f":
        return _between_floats(to, flags)
    if to.kind == "f":
        mode = next((flag for flag in flags if flag in ROUNDINGS), "rn")
        return lambda a: integer_to_float(a, to, mode)
    if source.kind == "f":
        rounding = next((flag for flag in flags if flag in _INTEGRAL), None)
        if rounding is None:
            raise UnknownInstruction("Conversion lacks its rounding")
        return lambda a: float_to_integer(a, to, rounding)
    return lambda a: integer_to_integer(a, to, "sat" in flags)


@CONVERT_INSTRUCTIONS.define("if", "cvt")
def _cvt(instruction: Instruction, last: Scalar) -> Operation:
    flags = only(instruction, *ROUNDINGS, *_INTEGRAL, "ftz", "sat")
    types = [SCALARS[name].dtype for name in instruction.modifiers if name in SCALARS]
    if len(types) != 2 or len(instruction.operands) != 2:
        raise UnknownInstruction(f"Conversion {instruction.name} lacks one of its two types")
    to, source = types
    function = _plain(to, source, flags)
    if to.kind != "f":  # clamped by the conversion itself
        flags = tuple(flag for flag in flags if flag != "sat")
    return Operation(finish(function, flags, flushed=("f4",)), (to,), (source,))
