"""What a board with ScoRD plays to test itself."""

from __future__ import annotations

from racetrap.fpga.scord.board import core_region
from racetrap.golden_model.events import DataRegion, Geometry, TraceHeader
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.trace import Trace
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events

_RANDOM = 300  # instructions


def random_trace(params: ScordParams, seed: int) -> Trace:
    """A random run in the region that every device of these parameters can monitor."""
    region = core_region(params)
    header = TraceHeader(
        geometry=Geometry(params.sm_count, params.blocks_per_sm, params.warps_per_sm),
        region=DataRegion(region.data_base, region.size_log2),
    )
    return Trace.from_events(header, random_events(params, region, KNOBS["mixed"], seed, _RANDOM))
