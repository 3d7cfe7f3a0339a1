"""Loads and stores of a warp's lanes in compiled loops.

The loops are ufuncs of the addresses, the values, and two rows of numbers: what the instruction
is, and what memory its warp has.  A loop does all that `Load` and `Store` do where nothing
stands out, the event in the log included.  It does nothing but refuse where an address
is not in the memory that is expected, or the log is full.

Ref: PTX ISA 9.0, Sections 9.7.9.8 (ld) and 9.7.9.11 (st); NumPy C-API, "UFunc API".
"""

from __future__ import annotations

import ctypes
from ctypes import c_int64
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from racetrap.golden_model.events import WARP_SIZE
from racetrap.golden_model.trace.gpu.schema import EVENT_DTYPE, LANE_DTYPE
from racetrap.sim.compiled_library import compiled_library
from racetrap.sim.compiled_ufunc import compiled_ufunc
from racetrap.sim.gpu.executor.machine.event_log import LogCursor
from racetrap.sim.twins import constants, enumeration, record, structure

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.access import Access

_Row = TypeVar("_Row", bound=ctypes.Structure)

#: Addresses are computed as signed, so that what lies before a buffer is negative.
ADDRESS = np.dtype(np.int64)
#: Those of small memories.
NARROW_ADDRESS = np.dtype(np.uint32)
_NUMBER = np.dtype(np.int64)
#: Bytes of all elements of a lane that loops move, in one event; others are of copies.
_SIZES = (1, 2, 4, 8, 16)


class _Window(IntEnum):
    """Where addresses lie."""

    HEAP_WINDOW = 0
    SHARED_WINDOW = 1
    LOCAL_WINDOW = 2
    PARAMETER_WINDOW = 3


#: By state space; in others an address says more than a place.
_WINDOWS = {
    "global": _Window.HEAP_WINDOW,
    "const": _Window.HEAP_WINDOW,
    "shared": _Window.SHARED_WINDOW,
    "local": _Window.LOCAL_WINDOW,
    "param": _Window.PARAMETER_WINDOW,
}


class WarpRow(ctypes.Structure):
    """A warp: active lanes, names, and the addresses and bytes of its memories.

    ``bounds`` has the buffer that each memory instruction accessed last.
    """

    _fields_ = tuple(
        (name, c_int64)
        for name in (
            "mask", "sm", "slot", "number", "heap", "bounds", "shared", "shared_size", "local",
            "local_size", "parameters", "parameter_size", "log",
        )
    )  # fmt: skip


class AccessRow(ctypes.Structure):
    """A memory instruction, in the words of events."""

    _fields_ = tuple(
        (name, c_int64)
        for name in (
            "number", "window", "size", "offset", "is_logged", "kind", "scope", "is_strong", "op",
            "pc", "space", "order",
        )
    )  # fmt: skip


_TWINS = (
    constants({"LANES": WARP_SIZE}),
    enumeration(_Window),
    structure(LogCursor, types=dict.fromkeys(("events", "lanes"), "char *")),
    structure(WarpRow, types={
        **dict.fromkeys(("heap", "shared", "local", "parameters"), "char *"),
        "bounds": "const int64_t *", "log": "LogCursor *",
    }),
    structure(AccessRow),
    record(EVENT_DTYPE, "Event"),
    record(LANE_DTYPE, "LaneRecord"),
)  # fmt: skip


@cache
def _library() -> ctypes.CDLL:
    source = Path(__file__).with_suffix(".cpp")
    return compiled_library("lane-moves", [source], ("-std=c++20", "-O3"), {}, _TWINS)


def numbers_of(kind: type[_Row]) -> tuple[np.ndarray, _Row]:
    """A row for loops, and the structure at its beginning."""
    row = np.zeros(WARP_SIZE, _NUMBER)
    return row, kind.from_buffer(row.data)


def address_of(array: np.ndarray) -> int:
    """Address of an array's bytes."""
    address: int = array.ctypes.data
    return address


def access_row(access: Access, space: str, offset: int) -> np.ndarray | None:
    """The row of an instruction; ``None`` if no loop does what it does."""
    if space not in _WINDOWS or access.size not in _SIZES:
        return None
    row, numbers = numbers_of(AccessRow)
    numbers.number, numbers.window = access.number, _WINDOWS[space]
    numbers.size, numbers.offset, numbers.is_logged = access.size, offset, access.logged
    numbers.kind, numbers.op, numbers.pc = access.kind, access.op, access.pc
    numbers.is_strong, numbers.scope, numbers.order = access.strong, access.scope, access.order
    numbers.space = access.space_code
    return row


@cache
def load_loop(dtype: np.dtype, elements: int) -> np.ufunc:
    """From addresses, warp and instruction to the elements."""
    name, rest = f"load_{dtype.itemsize}_{elements}", [_NUMBER] * 2 + [dtype] * elements
    return compiled_ufunc(_library(), _for_addresses(name, rest), elements)


@cache
def store_loop(dtype: np.dtype, elements: int) -> np.ufunc:
    """From addresses, instruction and elements to the warp, whose row is left as it is."""
    name, rest = f"store_{dtype.itemsize}_{elements}", [_NUMBER, *[dtype] * elements, _NUMBER]
    return compiled_ufunc(_library(), _for_addresses(name, rest))


def _for_addresses(name: str, rest: list[np.dtype]) -> dict[str, list[np.dtype]]:
    """Loops for addresses of 64 bits, and of 32."""
    return {name: [ADDRESS, *rest], f"narrow_{name}": [NARROW_ADDRESS, *rest]}
