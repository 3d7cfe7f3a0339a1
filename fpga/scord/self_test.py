"""Random run by which a board with ScoRD tests itself."""

from __future__ import annotations

from racetrap.fpga.gpu.self_test import INSTRUCTIONS, trace_in_largest_region
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.trace import Trace
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events


def random_trace(params: ScordParams, seed: int) -> Trace:
    """A random run in the region that every device of these parameters can monitor."""
    return trace_in_largest_region(
        params, lambda region: random_events(params, region, KNOBS["mixed"], seed, INSTRUCTIONS)
    )
