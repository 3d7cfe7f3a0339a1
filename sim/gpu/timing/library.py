"""The timing model as a library: what it is given, what it returns, and its functions."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_uint32, c_uint64, c_void_p
from dataclasses import astuple, fields
from functools import cache
from pathlib import Path

import numpy as np

from racetrap.golden_model.events import DataRegion, EventKind
from racetrap.golden_model.trace.gpu.schema import EVENT_DTYPE, LANE_DTYPE
from racetrap.sim.compiled_library import Functions, compiled_library
from racetrap.sim.gpu.timing.counts import TimingCounts
from racetrap.sim.gpu.timing.detector_ports import PORT_TWINS
from racetrap.sim.gpu.timing.params import TimingParams
from racetrap.sim.twins import Twin, enumeration, numbers, record, structure

_FOLDER = Path(__file__).parent
_OPTIONS = ("-std=c++20", "-O3")
_PLACES = ("data_base", "data_words", "port_bytes_log2")
_SETTINGS = (*(field.name for field in fields(TimingParams)), *_PLACES)
_COUNTS = tuple(field.name for field in fields(TimingCounts))
#: No warp wants an instruction.
NONE = (1 << 32) - 1


class KernelArrays(ctypes.Structure):
    """A kernel as the library reads it; ``gaps``, ``block`` and ``warp`` are of each event."""

    _fields_ = (
        *((name, c_uint64) for name in ("rows", "blocks", "warps", "first_lane")),
        *((name, c_void_p) for name in (
            "events", "lanes", "gaps", "block", "warp", "first_warp", "warp_count", "block_sm",
            "block_slot", "first_told",
        )),
    )  # fmt: skip


class DetectorArrays(ctypes.Structure):
    """A detector as the library has it beside the GPU, and all that SMs tell it."""

    _fields_ = (
        ("cycle", c_void_p), ("state", c_void_p), ("launch", c_void_p), ("words", c_void_p),
        ("width", c_uint64), ("sms", c_uint64), ("slices", c_uint64),
    )  # fmt: skip


_TWINS = (
    enumeration(EventKind, bits=8),
    record(EVENT_DTYPE, "Event"),
    record(LANE_DTYPE, "LaneRecord"),
    structure(KernelArrays, types={
        "events": "const Event *", "lanes": "const LaneRecord *",
        **dict.fromkeys(("gaps", "block_sm", "block_slot"), "const uint32_t *"),
        **dict.fromkeys(("block", "warp"), "const int32_t *"),
        **dict.fromkeys(("first_warp", "warp_count"), "const int64_t *"),
        "first_told": "const uint64_t *",
    }),
    *PORT_TWINS,
    Twin("using LaunchFunction = int (*)();\n", {}),
    structure(DetectorArrays, types={
        "cycle": "CycleFunction", "state": "void *", "launch": "LaunchFunction",
        "words": "const uint32_t *",
    }),
    numbers("Settings", _SETTINGS),
    numbers("Counts", _COUNTS),
)  # fmt: skip
_FUNCTIONS: Functions = {
    "racetrap_timing_new": (c_void_p, []),
    "racetrap_timing_add": (None, [c_void_p, POINTER(KernelArrays), c_uint64]),
    "racetrap_timing_run": (c_int, [c_void_p, c_void_p, POINTER(DetectorArrays), c_void_p]),
    "racetrap_timing_delete": (None, [c_void_p]),
    "racetrap_execution_new": (c_void_p, [c_void_p]),
    "racetrap_execution_begin": (None, [c_void_p]),
    "racetrap_execution_place": (None, [c_void_p, c_uint32, c_uint32, c_uint32]),
    "racetrap_execution_follow": (
        c_int, [c_void_p, c_uint32, c_char_p, c_uint64, c_char_p, c_uint32]
    ),
    "racetrap_execution_wait": (None, [c_void_p, c_uint32]),
    "racetrap_execution_pause": (None, [c_void_p, c_uint32, c_uint32]),
    "racetrap_execution_next": (c_uint32, [c_void_p, c_int]),
    "racetrap_execution_end": (c_int, [c_void_p, c_void_p]),
    "racetrap_execution_delete": (None, [c_void_p]),
}  # fmt: skip


def settings_of(params: TimingParams, region: DataRegion, port_bytes: int = 1) -> np.ndarray:
    """Settings of a run: GPU, the region whose words have metadata, and bytes of a port's segment
    of it."""
    places = region.data_base, 1 << region.size_log2 >> 2, port_bytes.bit_length() - 1
    return np.array([*astuple(params), *places], np.uint64)


def no_counts() -> np.ndarray:
    """Room for counts."""
    return np.zeros(len(_COUNTS), np.uint64)


def counts_of(row: np.ndarray) -> TimingCounts:
    """Counts that the library has written."""
    return TimingCounts(*row.tolist())


@cache
def timing_library() -> ctypes.CDLL:
    """The shared library, compiled once.

    Raises
    ------
    Failure
        If it cannot be compiled.
    """
    sources = sorted([*_FOLDER.glob("*.cpp"), *_FOLDER.glob("*.h")])
    return compiled_library("gpu_timing", sources, _OPTIONS, _FUNCTIONS, _TWINS)
