"""Float operations in each rounding mode, as ufuncs made of compiled loops.

A fused operation, or one in another mode than to nearest, takes the time of NumPy's own addition.

Ref: PTX ISA 9.0, Section 9.7.3; NumPy C-API, "UFunc API".
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, PYFUNCTYPE, c_char_p, c_int, c_int8, c_void_p, cast, py_object
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from racetrap.sim.compiled_library import compiled_library

#: Sources of each operation.
ROUNDED_OPERATIONS = {"add": 2, "sub": 2, "mul": 2, "div": 2, "rcp": 1, "sqrt": 1, "fma": 3}

_SOURCE = Path(__file__).with_suffix(".cpp")
# The processor's mode is not known when the code is compiled.
_OPTIONS = ("-std=c++20", "-O3", "-frounding-math", "-ffp-contract=off", "-fno-math-errno")
#: Place of `PyUFunc_FromFuncAndData` in NumPy's table of functions, which is fixed.
_FROM_LOOPS = 1
_NO_IDENTITY = -1
#: What ufuncs point to; they do not own it.
_KEPT: list[Any] = []


@cache
def _make_ufunc() -> Any:
    """NumPy's function that makes a ufunc of loops."""
    core = "core" if np.__version__.startswith("1.") else "_core"
    umath = import_module(f"numpy.{core}._multiarray_umath")
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = c_void_p, [py_object, c_char_p]
    table = cast(pointer(umath._UFUNC_API, None), POINTER(c_void_p))
    make = PYFUNCTYPE(
        py_object, c_void_p, c_void_p, c_void_p, *[c_int] * 4, c_char_p, c_char_p, c_int
    )
    return make(table[_FROM_LOOPS])


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
    sources = ROUNDED_OPERATIONS[operation]
    name = f"{operation}_f{8 * dtype.itemsize}_{mode}".encode()
    loop = cast(getattr(_library(), name.decode()), c_void_p)
    loops, data = (c_void_p * 1)(loop), (c_void_p * 1)(None)
    types = (c_int8 * (sources + 1))(*[dtype.num] * (sources + 1))
    _KEPT.append((loops, data, types, name))
    ufunc: np.ufunc = _make_ufunc()(loops, data, types, 1, sources, 1, _NO_IDENTITY, name, b"", 0)
    return ufunc
