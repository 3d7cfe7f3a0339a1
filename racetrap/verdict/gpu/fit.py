"""Kernels and monitored region of a trace for a GPU detector, with checks that they fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from racetrap.golden_model.events import Event, EventKind, Geometry
from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.trace import Trace


def region_of(trace: Trace) -> Region:
    """Monitored region requested by a trace; raises ``ValueError`` if detectors cannot judge it."""
    if trace.has_clusters:
        raise ValueError(
            "Trace for a detector must have no clusters of several blocks, whose scope and barrier "
            "no detector knows: leave the verdict to the exact analysis"
        )
    header = trace.header.region
    return Region(header.data_base, header.size_log2)


def check_geometry(geometry: Geometry, params: GpuParams) -> None:
    """Raise ``ValueError`` if a trace was taken on a larger GPU than ``params`` describes."""
    for name, needed in asdict(geometry).items():
        if needed > getattr(params, name):
            raise ValueError(
                f"Parameter {name} must be at least the {needed} of the trace, "
                f"not {getattr(params, name)}"
            )


def check_fit(trace: Trace, params: GpuParams) -> None:
    """Raise ``ValueError`` if a configuration is too small for a trace's GPU or region."""
    check_geometry(trace.header.geometry, params)
    region_of(trace).check(params)


def around(region: Region, params: GpuParams) -> Region:
    """A region, enlarged to at least as many words as the window for shared memory."""
    size_log2 = max(region.size_log2, params.min_region_log2)
    return Region(region.data_base >> size_log2 << size_log2, size_log2)


def region_with_window(trace: Trace, params: GpuParams) -> Region:
    """The monitored region for a trace, with room for the window."""
    return around(region_of(trace), params)


def check_fit_with_window(trace: Trace, params: GpuParams) -> None:
    """As ``check_fit``, of the region with room for the window."""
    check_geometry(trace.header.geometry, params)
    region_with_window(trace, params).check(params)


def kernels_of(trace: Trace) -> Iterator[list[Event]]:
    """Events of each kernel of a trace."""
    events: list[Event] = []
    for event in trace:
        events.append(event)
        if event.kind == EventKind.KERNEL_END:
            yield events
            events = []
