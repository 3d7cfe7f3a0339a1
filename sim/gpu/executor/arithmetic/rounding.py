"""Float arithmetic with each rounding mode, exact to the last bit.

The processor has no f16, and no conversions in each mode: these results are computed in f64 and
rounded to odd there (an inexact result gets an odd last bit, away from every f32 and every midpoint
of two), so that the second rounding is right in every mode.  For operations on f32 and f64 see
`rounded`.

Ref: Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums" (IEEE TC, 2008);
PTX ISA 9.0, Section 9.7.3.
"""

from __future__ import annotations

import numpy as np

#: To nearest even, toward zero, toward minus and plus infinity.
ROUNDINGS = ("rn", "rz", "rm", "rp")


def _two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sum rounded to nearest, and its error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def sum_to_odd(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Sum of two f64, rounded to odd."""
    total, error = _two_sum(a, b)
    bits = total.view(np.int64)
    change = (error != 0) & (bits & 1 == 0)
    if not change.any():
        return total
    # The error of an infinite sum is no number.
    change &= np.isfinite(total) & np.isfinite(error)
    toward_zero = (error > 0) != (total > 0)
    return np.where(change, bits + np.where(toward_zero, -1, 1), bits).view(np.float64)


def _correct(result: np.ndarray, below: np.ndarray, above: np.ndarray, mode: str) -> np.ndarray:
    """Result to nearest moved to a mode's; ``below``, ``above``: the exact value is so."""
    if mode == "rz":
        wrong = np.where(result > 0, below, above)
        return np.where(wrong, np.nextafter(result, np.zeros_like(result)), result)
    infinity = np.full_like(result, -np.inf if mode == "rm" else np.inf)
    wrong = below if mode == "rm" else above
    return np.where(wrong, np.nextafter(result, infinity), result)


def narrow(exact: np.ndarray, dtype: np.dtype, mode: str) -> np.ndarray:
    """Values of a wider type rounded to ``dtype``."""
    result = exact.astype(dtype)
    if mode == "rn":
        return result
    back = result.astype(exact.dtype)
    return _correct(result, exact < back, exact > back, mode)


def fused_halves(a: np.ndarray, b: np.ndarray, c: np.ndarray, mode: str) -> np.ndarray:
    """``a * b + c`` of f16, rounded once."""
    exact = sum_to_odd(a.astype("f8") * b.astype("f8"), c.astype("f8"))
    return narrow(exact, a.dtype, mode)
