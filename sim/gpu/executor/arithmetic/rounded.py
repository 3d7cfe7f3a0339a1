"""Float operations in each rounding mode, as ufuncs made of compiled loops.

A fused operation, or one in another mode than to nearest, takes the time of NumPy's own addition.

Ref: PTX ISA 9.0, Section 9.7.3.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

import numpy as np

from racetrap.sim.compiled_library import compiled_library
from racetrap.sim.compiled_ufunc import compiled_ufunc

#: Sources of each operation.
ROUNDED_OPERATIONS = {"add": 2, "sub": 2, "mul": 2, "div": 2, "rcp": 1, "sqrt": 1, "fma": 3}

_SOURCE = Path(__file__).with_suffix(".cpp")
# The processor's mode is not known when the code is compiled.
_OPTIONS = ("-std=c++20", "-O3", "-frounding-math", "-ffp-contract=off", "-fno-math-errno")


@cache
def _library() -> ctypes.CDLL:
    return compiled_library("rounded-arithmetic", [_SOURCE], _OPTIONS, {})


@cache
def rounded(operation: str, dtype: np.dtype, mode: str) -> np.ufunc:
    """An operation of f32 or f64, rounded once.

    Parameters
    ----------
    operation : str
        One of `ROUNDED_OPERATIONS`.
    dtype : numpy.dtype
        Type of its sources and its result.
    mode : str
        One of `ROUNDINGS`.
    """
    name = f"{operation}_f{8 * dtype.itemsize}_{mode}"
    return compiled_ufunc(_library(), {name: [dtype] * (ROUNDED_OPERATIONS[operation] + 1)})
