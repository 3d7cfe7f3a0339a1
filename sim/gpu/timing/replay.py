"""Replay of a trace on the timing model: cycles and traffic of all its kernels.

Ref: ScoRD (ISCA'20) Section V (GPGPU-Sim).
"""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, byref, c_int, c_void_p
from types import TracebackType
from typing import Any

import numpy as np

from racetrap.golden_model.barracuda.kernel import kernels_of
from racetrap.golden_model.events import EventKind
from racetrap.golden_model.trace import Trace
from racetrap.golden_model.trace.gpu.schema import EVENT_DTYPE, LANE_DTYPE
from racetrap.sim.gpu.timing.counts import TimingCounts
from racetrap.sim.gpu.timing.detector_ports import DetectorInput, TimedDetector
from racetrap.sim.gpu.timing.library import (
    DetectorArrays,
    KernelArrays,
    counts_of,
    no_counts,
    settings_of,
    timing_library,
)
from racetrap.sim.gpu.timing.params import TimingParams

_REFUSED = (EventKind.BARRIER_ARRIVE, EventKind.PARTIAL_BARRIER)
_LAUNCH = CFUNCTYPE(c_int)


class Replay:
    """Kernels of a trace, one after the other, that can run under many parameters.

    Parameters
    ----------
    trace : Trace
        The trace; where it does not count instructions, a warp runs none between its events.
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
        self, trace: Trace, segment_log2: int = 5, told: DetectorInput | None = None
    ) -> None:
        if np.isin(trace.events["kind"], _REFUSED).any():
            raise ValueError("Trace to replay must have only barriers of whole blocks")
        self._library = timing_library()
        self._segment_log2, self._region = segment_log2, trace.header.region
        self._replay = self._library.racetrap_timing_new()
        gaps = np.maximum(trace.instructions, 1) - 1
        for kernel in kernels_of(trace):
            rows = slice(kernel.begin, kernel.begin + len(kernel.events) + 1)
            first_told = None if told is None else told.first[rows]
            placed = kernel.events[kernel.kind == EventKind.BLOCK_PLACED]
            arrays = (
                np.ascontiguousarray(kernel.events, EVENT_DTYPE),
                np.ascontiguousarray(kernel.lanes, LANE_DTYPE),
                gaps[kernel.begin : kernel.begin + len(kernel.events)],
                kernel.block, kernel.warp, kernel.first_warp, kernel.warp_count,
                placed["sm"].astype(np.uint32), placed["slot"].astype(np.uint32),
            )  # fmt: skip
            self._library.racetrap_timing_add(
                self._replay,
                byref(KernelArrays(
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
        port_bytes = 1 if detector is None else detector.segment_bytes
        settings, counts = settings_of(params, self._region, port_bytes), no_counts()
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
        return counts_of(counts)


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
    given = DetectorArrays(
        ports.address, ports.state, ctypes.cast(call, c_void_p), words.ctypes.data,
        words.shape[1], ports.sms, ports.slices,
    )  # fmt: skip
    return byref(given), (given, call, words)
