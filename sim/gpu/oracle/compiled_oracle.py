"""Race oracle by PTX's memory model: the causality order of one run, by thread and by byte, in C++.

Release and acquire patterns and barriers order, and so does the Fence-SC order that every
execution has which agrees with the run; any other order of the run's fences is left out.

The events of a run are judged as they come: of each location the last accesses that may race are
kept, of each thread that runs what it knows.

Ref: PTX ISA 9.0, Sections 8.7 (Conflict, data-races), 8.8 (Patterns) and 8.9 (Orders).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import POINTER, byref, c_uint64, c_void_p
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from racetrap.golden_model.barracuda.analysis import merge
from racetrap.golden_model.barracuda.concurrent import concurrent_races
from racetrap.golden_model.barracuda.kernel import Kernel, kernels_of
from racetrap.golden_model.barracuda.operations import neighbours
from racetrap.golden_model.barracuda.race import (
    BarrierDivergence,
    Party,
    RaceClass,
    Result,
)
from racetrap.golden_model.events import (
    ALL_LANES,
    SHARED_BITS,
    WARP_SIZE,
    AtomicOp,
    EventKind,
    EventScope,
    MemoryOrder,
    Space,
)
from racetrap.golden_model.trace import Trace
from racetrap.golden_model.trace.gpu.schema import EVENT_DTYPE, LANE_DTYPE
from racetrap.sim.compiled_library import Functions, compiled_library
from racetrap.sim.gpu.oracle.findings import Finding, OracleRule, result_of
from racetrap.sim.twins import constants, enumeration, record, structure

_FOLDER = Path(__file__).parent
#: The last two let the library call its own functions directly.
_OPTIONS = ("-std=c++20", "-O3", "-fvisibility-inlines-hidden", "-fno-semantic-interposition")
#: Stands for no block.
_NO_BLOCK = (1 << 32) - 1
#: Warps that the compiled form can distinguish.
_MOST_WARPS = 1 << 23
_FOUND_DTYPE = np.dtype([
    ("address", "<u8"), ("first_event", "<u8"), ("second_event", "<u8"), ("instances", "<u8"),
    ("owner", "<u8"),
    ("block_pairs", "<u4"), ("first_pc", "<u4"), ("second_pc", "<u4"),
    ("first_grid_block", "<u4"), ("second_grid_block", "<u4"),
    ("first_thread", "<u4"), ("second_thread", "<u4"),
    ("first_kind", "u1"), ("second_kind", "u1"), ("first_size", "u1"), ("second_size", "u1"),
    ("is_shared", "u1"), ("is_same_warp", "u1"), ("is_same_block", "u1"), ("is_same", "u1"),
    ("is_strong", "u1"), ("is_narrow", "u1"), ("is_volatile", "u1"), ("is_least", "u1"),
])  # fmt: skip
_PAIR_DTYPE = np.dtype([("write", "<u4"), ("read", "<u4")])
_DIVERGENCE_DTYPE = np.dtype([("pc", "<u4"), ("grid_block", "<u4"), ("thread", "<u4")])
#: Where the findings of a kernel end among those of all, and locations that are judged in part.
_KERNEL_DTYPE = np.dtype(
    [("found", "<u8"), ("synchronised", "<u8"), ("divergences", "<u8"), ("unknown", "<u8")]
)
_RECORDS: tuple[Any, list[Any]] = (c_uint64, [c_void_p, POINTER(c_void_p)])


class _Settings(ctypes.Structure):
    """Settings of the oracle as the library reads them."""

    # `volatile_may_conflict`: whether lanes may store different values by a volatile store.
    _fields_ = tuple(
        (name, c_uint64)
        for name in ("independent", "volatile_may_conflict", "most_warps", "first_event")
    )


_TWINS = (
    enumeration(EventKind, bits=8),
    enumeration(EventScope, bits=8),
    enumeration(AtomicOp, bits=8),
    enumeration(MemoryOrder, bits=8),
    constants({"LANES": WARP_SIZE, "SHARED_BITS": SHARED_BITS}),
    constants({"ALL_LANES": ALL_LANES, "NO_BLOCK": _NO_BLOCK}, ctype="uint32_t"),
    record(EVENT_DTYPE, "Event"),
    record(LANE_DTYPE, "LaneRecord"),
    structure(_Settings, name="OracleSettings"),
    record(_FOUND_DTYPE, "Found"),
    record(_PAIR_DTYPE, "PcPair", is_ordered=True),
    record(_DIVERGENCE_DTYPE, "Divergence"),
    record(_KERNEL_DTYPE, "KernelFound"),
)  # fmt: skip
_FUNCTIONS: Functions = {
    "racetrap_oracle_new": (c_void_p, [POINTER(_Settings)]),
    "racetrap_oracle_feed": (c_uint64, [c_void_p, c_void_p, c_uint64, c_void_p, c_uint64]),
    "racetrap_oracle_end": (None, [c_void_p]),
    "racetrap_oracle_kernels": _RECORDS,
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
        is_part[fences] = np.isin(pc[fences], pc[kernel.accesses])
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
        orders = ProgramOrders.of(kernel)
        events = np.ascontiguousarray(kernel.events, EVENT_DTYPE)
        if (orders.orders != events["order"]).any():
            events = events.copy()
            events["order"] = orders.orders
        with self.running(kernel.begin, kernel.number) as run:
            run.feed(events, kernel.lanes, kernel.first_lane)
            return run.end()

    @contextmanager
    def running(self, first_event: int = 0, first_kernel: int = 0) -> Iterator[OracleRun]:
        """An analysis that takes events as they come, as long as the context lasts.

        Parameters
        ----------
        first_event, first_kernel : int
            Numbers of the first event and the first kernel in their trace.
        """
        run = OracleRun(self._rule, self._independent, first_event, first_kernel)
        try:
            yield run
        finally:
            run.close()


class OracleRun:
    """An analysis of one run, of the events that it has been given.

    Parameters
    ----------
    rule, independent
        As of ``CompiledOracle``.
    first_event, first_kernel : int
        Numbers of the first event and the first kernel in their trace.

    Attributes
    ----------
    events : int
        Events that it has been given.
    """

    def __init__(
        self, rule: OracleRule, independent: bool, first_event: int = 0, first_kernel: int = 0
    ) -> None:
        self._rule, self._first_kernel = rule, first_kernel
        self._library, self.events = _library(), 0
        # A run that fails ends its context while another thread may feed the analysis.
        self._lock = Lock()
        self._analysis: int | None = self._library.racetrap_oracle_new(
            byref(_Settings(independent, rule is OracleRule.PTX, _MOST_WARPS, first_event))
        )

    def feed(self, events: np.ndarray, lanes: np.ndarray, first_lane: int) -> None:
        """Take events; an access and its fences at once, by which they are known.

        Parameters
        ----------
        events, lanes : numpy.ndarray
            Records of a trace.
        first_lane : int
            Number of the first lane record.

        Raises
        ------
        ValueError
            If a kernel has more warps than can be distinguished.
        """
        events, lanes = np.ascontiguousarray(events), np.ascontiguousarray(lanes)
        with self._lock:
            if self._analysis is None:
                return
            warps = self._library.racetrap_oracle_feed(
                self._analysis, events.ctypes.data, len(events), lanes.ctypes.data, first_lane
            )
        self.events += len(events)
        if warps:
            raise ValueError(f"Warps of a kernel must be at most {_MOST_WARPS}, not {warps}")

    def end(self) -> Result:
        """What was found in all kernels."""
        library, analysis = self._library, self._analysis
        library.racetrap_oracle_end(analysis)
        kernels = _records(library.racetrap_oracle_kernels, analysis, _KERNEL_DTYPE)
        parts = [
            _by_kernel(_records(function, analysis, dtype), kernels[name])
            for name, function, dtype in (
                ("found", library.racetrap_oracle_found, _FOUND_DTYPE),
                ("synchronised", library.racetrap_oracle_synchronised, _PAIR_DTYPE),
                ("divergences", library.racetrap_oracle_divergences, _DIVERGENCE_DTYPE),
            )
        ]
        results = [
            result_of(
                number, self._rule, map(_finding, found), set(synchronised.tolist()),
                _divergences(number, divergences),
            )
            for number, (found, synchronised, divergences) in enumerate(
                zip(*parts, strict=True), self._first_kernel
            )
        ]  # fmt: skip
        merged = merge(results)
        merged.counts.events, merged.partly_judged = self.events, int(kernels["unknown"].sum())
        return merged

    def close(self) -> None:
        """Give the memory back."""
        with self._lock:
            if self._analysis is not None:
                self._library.racetrap_oracle_delete(self._analysis)
                self._analysis = None


@cache
def _library() -> ctypes.CDLL:
    """The shared library, compiled once."""
    sources = sorted([*_FOLDER.glob("*.cpp"), *_FOLDER.glob("*.h")])
    return compiled_library("gpu_oracle", sources, _OPTIONS, _FUNCTIONS, _TWINS)


def _records(function: Callable[..., int], analysis: int | None, dtype: np.dtype) -> np.ndarray:
    address = c_void_p()
    count = function(analysis, byref(address))
    text = ctypes.string_at(address.value or 0, count * dtype.itemsize) if count else b""
    return np.frombuffer(text, dtype)


def _by_kernel(records: np.ndarray, ends: np.ndarray) -> list[np.ndarray]:
    starts = [0, *ends.tolist()]
    return [records[start:end] for start, end in zip(starts, ends.tolist(), strict=False)]


def _finding(found: np.void) -> Finding:
    first, second = (
        Party(
            int(found[f"{which}_grid_block"]), int(found[f"{which}_thread"]),
            int(found[f"{which}_pc"]), EventKind(found[f"{which}_kind"]),
            int(found[f"{which}_event"]), int(found[f"{which}_size"]),
        )
        for which in ("first", "second")
    )  # fmt: skip
    race_class = RaceClass.INTER_BLOCK
    if found["is_same_warp"]:
        race_class = RaceClass.DIVERGENCE
    elif found["is_same_block"]:
        race_class = RaceClass.INTRA_BLOCK
    return Finding(
        first, second, race_class, Space(int(found["is_shared"])), int(found["address"]),
        bool(found["is_strong"]), bool(found["is_narrow"]), bool(found["is_volatile"]),
        bool(found["is_same"]),
        int(found["instances"]), int(found["block_pairs"]), bool(found["is_least"]),
        None if found["owner"] == _NO_BLOCK else int(found["owner"]),
    )  # fmt: skip


def _divergences(number: int, records: np.ndarray) -> list[BarrierDivergence]:
    """The first of each program counter."""
    found: dict[int, BarrierDivergence] = {}
    for pc, grid_block, thread in records.tolist():
        found.setdefault(pc, BarrierDivergence(grid_block, pc, thread, number))
    return list(found.values())
