"""Random run with which a board of a GPU detector tests itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from racetrap.fpga.gpu.board import largest_region
from racetrap.golden_model.events import DataRegion, Event, Geometry, TraceHeader
from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.trace import Trace

#: Instructions of a run.
INSTRUCTIONS = 300


def trace_in_largest_region(
    params: GpuParams, events: Callable[[Region], Iterable[Event]]
) -> Trace:
    """Trace of events in the region that every device of these parameters can monitor.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    events : callable
        Gives the events, from the region.
    """
    region = largest_region(params)
    header = TraceHeader(
        geometry=Geometry(params.sm_count, params.blocks_per_sm, params.warps_per_sm),
        region=DataRegion(region.data_base, region.size_log2),
        independent_threads=int(params.with_lanes(True) == params),
    )
    return Trace.from_events(header, events(region))
