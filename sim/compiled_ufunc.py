"""Ufuncs of compiled loops, made without NumPy's headers.

Ref: NumPy C-API, "UFunc API".
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from ctypes import POINTER, PYFUNCTYPE, c_char_p, c_int, c_int8, c_void_p, cast, py_object
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

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


def compiled_ufunc(
    library: ctypes.CDLL, loops: Mapping[str, Sequence[np.dtype]], results: int = 1
) -> np.ufunc:
    """A ufunc of loops.

    Parameters
    ----------
    library : ctypes.CDLL
        Where the loops are.
    loops : mapping of str to sequence of numpy.dtype
        By name of a loop the types of its arrays.
    results : int
        How many of these, the last ones, are results.
    """
    numbers = [each.num for types in loops.values() for each in types]
    arrays = len(numbers) // len(loops)
    addresses = (c_void_p * len(loops))(*(cast(getattr(library, name), c_void_p) for name in loops))
    data, name = (c_void_p * len(loops))(), next(iter(loops)).encode()
    kept = addresses, data, (c_int8 * len(numbers))(*numbers), name
    _KEPT.append(kept)
    ufunc: np.ufunc = _make_ufunc()(
        *kept[:3], len(loops), arrays - results, results, _NO_IDENTITY, name, b"", 0
    )
    return ufunc
