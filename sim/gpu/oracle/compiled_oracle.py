"""Race oracle by PTX's memory model: the causality order of one run, by thread and by byte, in C++.

Release and acquire patterns and barriers order, and so does the Fence-SC order that every
execution has which agrees with the run; any other order of the run's fences is left out.

Ref: PTX ISA 9.0, Sections 8.7 (Conflict, data-races), 8.8 (Patterns) and 8.9 (Orders).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import POINTER, byref, c_uint64, c_void_p
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from racetrap.golden_model.barracuda.analysis import merge
from racetrap.golden_model.barracuda.concurrent import concurrent_races
from racetrap.golden_model.barracuda.kernel import Kernel, kernels_of
from racetrap.golden_model.barracuda.operations import neighbours
from racetrap.golden_model.barracuda.race import BarrierDivergence, Result
from racetrap.golden_model.events import ALL_LANES, WARP_SIZE, AtomicOp, EventKind, MemoryOrder
from racetrap.golden_model.trace import Trace
from racetrap.golden_model.trace.gpu.schema import EVENT_DTYPE, LANE_DTYPE
from racetrap.sim.compiled_library import Functions, compiled_library
from racetrap.sim.gpu.oracle.findings import Finding, OracleRule, result_of
from racetrap.sim.twins import constants, enumeration, record, structure

_FOLDER = Path(__file__).parent
_OPTIONS = ("-std=c++20", "-O3")
#: Warps that the compiled form can distinguish.
_MOST_WARPS = 1 << 23
_FOUND_DTYPE = np.dtype([
    ("address", "<u8"), ("first_row", "<u4"), ("second_row", "<u4"), ("instances", "<u4"),
    ("block_pairs", "<u4"),
    ("first_lane", "u1"), ("second_lane", "u1"), ("is_strong", "u1"), ("is_narrow", "u1"),
    ("is_volatile", "u1"), ("unused", "u1", 3),
])  # fmt: skip
_TRUTHS = ("is_strong", "is_narrow", "is_volatile")
_PAIR_DTYPE = np.dtype([("write", "<u4"), ("read", "<u4")])
_DIVERGENCE_DTYPE = np.dtype([
    ("pc", "<u4"), ("block", "<u4"), ("warp", "<u4"), ("lane", "<u4"),
])  # fmt: skip
_RECORDS: tuple[Any, list[Any]] = (c_uint64, [c_void_p, POINTER(c_void_p)])


class _Kernel(ctypes.Structure):
    """A kernel as the library reads it."""

    _fields_ = (
        *((name, c_uint64) for name in (
            # `first_lane` numbers the first lane record; `cell_bits` is log2 of the bytes of a
            # cell, those of the smallest access; `independent`: whether lanes are scheduled
            # independently.
            "rows", "blocks", "warps", "first_lane", "cell_bits", "independent",
        )),
        *((name, c_void_p) for name in (
            # `block`, `warp` and `order` are of each row, `is_part` says whether it is a fence that
            # is part of an access; `first_warp` and `warp_count` are of each block, `live` of each
            # warp.
            "events", "lanes", "block", "warp", "order", "is_part", "first_warp", "warp_count",
            "live",
        )),
    )  # fmt: skip


_TWINS = (
    enumeration(EventKind, bits=8),
    enumeration(AtomicOp, bits=8),
    enumeration(MemoryOrder, bits=8),
    constants({"LANES": WARP_SIZE}),
    constants({"ALL_LANES": ALL_LANES}, ctype="uint32_t"),
    record(EVENT_DTYPE, "Event"),
    record(LANE_DTYPE, "LaneRecord"),
    structure(_Kernel, name="KernelArrays", types={
        "events": "const Event *", "lanes": "const LaneRecord *",
        **dict.fromkeys(("block", "warp"), "const int32_t *"),
        **dict.fromkeys(("order", "is_part"), "const uint8_t *"),
        **dict.fromkeys(("first_warp", "warp_count", "live"), "const int64_t *"),
    }),
    record(_FOUND_DTYPE, "Found"),
    record(_PAIR_DTYPE, "PcPair", is_ordered=True),
    record(_DIVERGENCE_DTYPE, "Divergence"),
)  # fmt: skip
_FUNCTIONS: Functions = {
    "racetrap_oracle_new": (c_void_p, [POINTER(_Kernel)]),
    "racetrap_oracle_found": _RECORDS,
    "racetrap_oracle_synchronised": _RECORDS,
    "racetrap_oracle_divergences": _RECORDS,
    "racetrap_oracle_delete": (None, [c_void_p]),
}


class ProgramOrders(NamedTuple):
    """Orders of the events of a kernel.

    Parameters
    ----------
    orders : numpy.ndarray
        ``MemoryOrder`` of each event. Traces without one for an access give it by the fences that
        are part of the access.
    is_part : numpy.ndarray
        Which events are fences that are part of an access, and order by the access alone.
    """

    orders: np.ndarray
    is_part: np.ndarray

    @classmethod
    def of(cls, kernel: Kernel) -> ProgramOrders:
        """Orders of a kernel."""
        pc, orders = kernel.events["pc"], kernel.events["order"].astype(np.uint8)
        is_part = kernel.kind == EventKind.FENCE
        fences = np.flatnonzero(is_part)
        is_part[fences] = np.isin(pc[fences], np.unique(pc[kernel.accesses]))
        if is_part.any():
            near = neighbours(kernel)
            rows = np.flatnonzero(near.named & (orders == MemoryOrder.IMPLIED))
            before = (near.before[rows] != 0) & (pc[rows - 1] == pc[rows])
            after = (near.after[rows] != 0) & (pc[(rows + 1) % len(pc)] == pc[rows])
            one = np.where(before, MemoryOrder.RELEASE, MemoryOrder.ACQUIRE)
            orders[rows] = np.where(before & after, MemoryOrder.ACQ_REL, one)
        return cls(orders, is_part)


class CompiledOracle:
    """Race detection by PTX's memory model.

    Parameters
    ----------
    rule : OracleRule
        What is a race.
    independent : bool
        Whether the lanes of a warp are ordered by their own program and ``bar.warp.sync`` alone;
        else they run in lockstep.
    """

    def __init__(self, rule: OracleRule, independent: bool = False) -> None:
        self._rule, self._independent = rule, independent

    def run(self, trace: Trace) -> Result:
        """Races, unordered strong pairs and barrier divergences of all kernels of a trace, and
        races between kernels or copies that nothing orders.

        Raises
        ------
        Failure
            If the library cannot be compiled.
        ValueError
            If a kernel has more warps than can be distinguished.
        """
        strong = self._rule.may_conflict(trace.events)
        _library()
        results = [self.run_kernel(kernel) for kernel in kernels_of(trace)]
        return merge([*results, concurrent_races(trace, strong)])

    def run_kernel(self, kernel: Kernel) -> Result:
        """The same of one kernel."""
        return _run(_library(), kernel, self._rule, self._independent)


@cache
def _library() -> ctypes.CDLL:
    """The shared library, compiled once."""
    sources = sorted([*_FOLDER.glob("*.cpp"), *_FOLDER.glob("*.h")])
    return compiled_library("gpu_oracle", sources, _OPTIONS, _FUNCTIONS, _TWINS)


def _run(library: ctypes.CDLL, kernel: Kernel, rule: OracleRule, independent: bool) -> Result:
    if len(kernel.warp_block) > _MOST_WARPS:
        raise ValueError(
            f"Warps of a kernel must be at most {_MOST_WARPS}, not {len(kernel.warp_block)}"
        )
    orders = ProgramOrders.of(kernel)
    sizes = kernel.events["size"][kernel.accesses]
    arrays = (
        np.ascontiguousarray(kernel.events, EVENT_DTYPE),
        np.ascontiguousarray(kernel.lanes, LANE_DTYPE),
        kernel.block, kernel.warp, orders.orders, orders.is_part, kernel.first_warp,
        kernel.warp_count, kernel.live,
    )  # fmt: skip
    analysis = library.racetrap_oracle_new(byref(_Kernel(
        len(kernel.events), len(kernel.first_warp), len(kernel.warp_block), kernel.first_lane,
        int(sizes.min()).bit_length() - 1 if len(sizes) else 0, independent,
        *(array.ctypes.data for array in arrays),
    )))  # fmt: skip
    try:
        found = _records(library.racetrap_oracle_found, analysis, _FOUND_DTYPE)
        synchronised = _records(library.racetrap_oracle_synchronised, analysis, _PAIR_DTYPE)
        divergences = _records(library.racetrap_oracle_divergences, analysis, _DIVERGENCE_DTYPE)
    finally:
        library.racetrap_oracle_delete(analysis)
    findings = [
        Finding(*(finding[name].item() for name in Finding._fields))._replace(
            **{name: bool(finding[name]) for name in _TRUTHS}
        )
        for finding in found
    ]
    return result_of(
        kernel, rule, findings, set(synchronised.tolist()), _divergences(kernel, divergences)
    )


def _records(function: Callable[..., int], analysis: int, dtype: np.dtype) -> np.ndarray:
    address = c_void_p()
    count = function(analysis, byref(address))
    text = ctypes.string_at(address.value or 0, count * dtype.itemsize) if count else b""
    return np.frombuffer(text, dtype)


def _divergences(kernel: Kernel, records: np.ndarray) -> list[BarrierDivergence]:
    """The first of each program counter."""
    found: dict[int, BarrierDivergence] = {}
    for pc, block, warp, lane in records.tolist():
        found.setdefault(
            pc,
            BarrierDivergence(
                int(kernel.grid_block[block]), pc, kernel.thread(warp, lane), kernel.number
            ),
        )
    return list(found.values())
