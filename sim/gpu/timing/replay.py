"""Replay of a trace on the timing model: cycles and traffic of all its kernels.

Ref: ScoRD (ISCA'20) Section V (GPGPU-Sim).
"""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, byref, c_int, c_uint64, c_void_p
from dataclasses import astuple, dataclass, fields
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from racetrap.golden_model.barracuda.kernel import kernels_of
from racetrap.golden_model.events import EventKind
from racetrap.golden_model.trace import Trace
from racetrap.golden_model.trace.gpu.schema import EVENT_DTYPE, LANE_DTYPE
from racetrap.sim.compiled_library import Functions, compiled_library
from racetrap.sim.gpu.timing.detector_ports import PORT_TWINS, DetectorInput, TimedDetector
from racetrap.sim.gpu.timing.params import TimingParams
from racetrap.sim.twins import Twin, enumeration, numbers, record, structure

_FOLDER = Path(__file__).parent
_OPTIONS = ("-std=c++20", "-O3")
_REFUSED = (EventKind.BARRIER_ARRIVE, EventKind.PARTIAL_BARRIER)


@dataclass(frozen=True)
class TimingCounts:
    """Result of a run.

    Parameters
    ----------
    cycles, instructions : int
        Core cycles, and warp instructions.
    l1_loads, l1_hits, l1_merges : int
        Segments that loads look up in L1 caches; found; already in flight.
    packets_injected, packets_ejected, flits, injection_waits : int
        Packets from the SMs, at their end and at the other; flits of them; cycles for which load
        and store units wait for the injection queue.
    l2_requests, l2_hits, l2_merges, l2_misses, l2_fills, l2_writes_through : int
        Requests at L2 slices, and what becomes of them.
    replies, delivered : int
        Packets to the SMs, at both ends.
    checks, checks_merged : int
        Segments of metadata that accesses need, and those already in flight.
    transactions, detector_waits : int
        What SMs tell a detector with cycles of its own; cycles for which a port of theirs waits.
    data_reads, data_writes, metadata_reads, metadata_writes, dram_activates : int
        DRAM accesses of a segment, and rows opened.
    """

    cycles: int
    instructions: int
    l1_loads: int
    l1_hits: int
    l1_merges: int
    packets_injected: int
    packets_ejected: int
    flits: int
    injection_waits: int
    l2_requests: int
    l2_hits: int
    l2_merges: int
    l2_misses: int
    l2_fills: int
    l2_writes_through: int
    replies: int
    delivered: int
    checks: int
    checks_merged: int
    transactions: int
    detector_waits: int
    data_reads: int
    data_writes: int
    metadata_reads: int
    metadata_writes: int
    dram_activates: int

    @property
    def dram_accesses(self) -> int:
        """Reads and writes of data and metadata."""
        return self.data_reads + self.data_writes + self.metadata_reads + self.metadata_writes


_PLACES = ("data_base", "data_words", "port_bytes_log2")
_SETTINGS = (*(field.name for field in fields(TimingParams)), *_PLACES)
_COUNTS = tuple(field.name for field in fields(TimingCounts))


class _Kernel(ctypes.Structure):
    """A kernel as the library reads it; ``gaps``, ``block`` and ``warp`` are of each event."""

    _fields_ = (
        *((name, c_uint64) for name in ("rows", "blocks", "warps", "first_lane")),
        *((name, c_void_p) for name in (
            "events", "lanes", "gaps", "block", "warp", "first_warp", "warp_count", "block_sm",
            "block_slot", "first_told",
        )),
    )  # fmt: skip


class _Detector(ctypes.Structure):
    """A detector as the library has it beside the GPU, and all that SMs tell it."""

    _fields_ = (
        ("cycle", c_void_p), ("state", c_void_p), ("launch", c_void_p), ("words", c_void_p),
        ("width", c_uint64), ("sms", c_uint64), ("slices", c_uint64),
    )  # fmt: skip


_LAUNCH = CFUNCTYPE(c_int)

_TWINS = (
    enumeration(EventKind, bits=8),
    record(EVENT_DTYPE, "Event"),
    record(LANE_DTYPE, "LaneRecord"),
    structure(_Kernel, name="KernelArrays", types={
        "events": "const Event *", "lanes": "const LaneRecord *",
        **dict.fromkeys(("gaps", "block_sm", "block_slot"), "const uint32_t *"),
        **dict.fromkeys(("block", "warp"), "const int32_t *"),
        **dict.fromkeys(("first_warp", "warp_count"), "const int64_t *"),
        "first_told": "const uint64_t *",
    }),
    *PORT_TWINS,
    Twin("using LaunchFunction = int (*)();\n", {}),
    structure(_Detector, name="DetectorArrays", types={
        "cycle": "CycleFunction", "state": "void *", "launch": "LaunchFunction",
        "words": "const uint32_t *",
    }),
    numbers("Settings", _SETTINGS),
    numbers("Counts", _COUNTS),
)  # fmt: skip
_FUNCTIONS: Functions = {
    "racetrap_timing_new": (c_void_p, []),
    "racetrap_timing_add": (None, [c_void_p, POINTER(_Kernel), c_uint64]),
    "racetrap_timing_run": (c_int, [c_void_p, c_void_p, POINTER(_Detector), c_void_p]),
    "racetrap_timing_delete": (None, [c_void_p]),
}


class Replay:
    """Kernels of a trace, one after the other, that can run under many parameters.

    Parameters
    ----------
    trace : Trace
        The trace.
    gaps : numpy.ndarray, optional
        Instructions without an event that the warp of each event ran before it; 0 by default.
    segment_log2 : int
        Log2 of the bytes of a segment.
    told : DetectorInput, optional
        What the SMs tell a detector with cycles of its own.

    Raises
    ------
    Failure
        If the library cannot be compiled.
    ValueError
        If a kernel has barriers that not all warps of a block wait at.
    """

    def __init__(
        self, trace: Trace, gaps: np.ndarray | None = None, segment_log2: int = 5,
        told: DetectorInput | None = None,
    ) -> None:  # fmt: skip
        if np.isin(trace.events["kind"], _REFUSED).any():
            raise ValueError("Trace to replay must have only barriers of whole blocks")
        self._library = _library()
        self._segment_log2, self._region = segment_log2, trace.header.region
        self._replay = self._library.racetrap_timing_new()
        own_gaps = np.zeros(len(trace), np.uint32) if gaps is None else gaps.astype(np.uint32)
        for kernel in kernels_of(trace):
            rows = slice(kernel.begin, kernel.begin + len(kernel.events) + 1)
            first_told = None if told is None else told.first[rows]
            placed = kernel.events[kernel.kind == EventKind.BLOCK_PLACED]
            arrays = (
                np.ascontiguousarray(kernel.events, EVENT_DTYPE),
                np.ascontiguousarray(kernel.lanes, LANE_DTYPE),
                own_gaps[kernel.begin : kernel.begin + len(kernel.events)],
                kernel.block, kernel.warp, kernel.first_warp, kernel.warp_count,
                placed["sm"].astype(np.uint32), placed["slot"].astype(np.uint32),
            )  # fmt: skip
            self._library.racetrap_timing_add(
                self._replay,
                byref(_Kernel(
                    len(kernel.events), len(placed), len(kernel.warp_block), kernel.first_lane,
                    *(array.ctypes.data for array in arrays),
                    None if first_told is None else first_told.ctypes.data,
                )),
                segment_log2,
            )  # fmt: skip

    def __enter__(self) -> Replay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._library.racetrap_timing_delete(self._replay)

    def run(self, params: TimingParams, detector: TimedDetector | None = None) -> TimingCounts:
        """Cycles and traffic under some parameters.

        Parameters
        ----------
        params : TimingParams
            GPU, and what a detector costs the network.
        detector : TimedDetector, optional
            A detector with cycles of its own, which receives what the replay was made with; without
            it, the detector has no time of its own.

        Raises
        ------
        ValueError
            If the parameters are for another size of segments.
        RuntimeError
            If the replay does not come to its end.
        """
        if params.segment_log2 != self._segment_log2:
            raise ValueError(
                f"Segments must be of 2**{self._segment_log2} bytes, as the replay was made with, "
                f"not 2**{params.segment_log2}"
            )
        region = self._region
        port_bytes = 1 if detector is None else detector.segment_bytes
        settings = np.array(
            [*astuple(params), region.data_base, 1 << region.size_log2 >> 2,
             port_bytes.bit_length() - 1], np.uint64,
        )  # fmt: skip
        counts = np.zeros(len(_COUNTS), np.uint64)
        errors: list[Exception] = []
        given, kept = (None, None) if detector is None else _arrays(detector, errors)
        has_ended = self._library.racetrap_timing_run(
            self._replay, settings.ctypes.data, given, counts.ctypes.data
        )
        del kept  # what the library has called
        if errors:
            raise errors[0]
        if not has_ended:
            raise RuntimeError("Replay must come to its end: a warp waits, or a packet is left")
        return TimingCounts(*counts.tolist())


def _arrays(detector: TimedDetector, errors: list[Exception]) -> tuple[Any, Any]:
    """The detector for the library, whose launches note their errors; and what must stay alive."""

    def launch() -> int:
        try:
            detector.launch()
        except Exception as error:  # raised again where the run was called
            errors.append(error)
        return not errors

    ports, words = detector.ports, detector.told.words
    call = _LAUNCH(launch)
    given = _Detector(
        ports.address, ports.state, ctypes.cast(call, c_void_p), words.ctypes.data,
        words.shape[1], ports.sms, ports.slices,
    )  # fmt: skip
    return byref(given), (given, call, words)


@cache
def _library() -> ctypes.CDLL:
    """The shared library, compiled once."""
    sources = sorted([*_FOLDER.glob("*.cpp"), *_FOLDER.glob("*.h")])
    return compiled_library("gpu_timing", sources, _OPTIONS, _FUNCTIONS, _TWINS)
