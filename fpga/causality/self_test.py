"""Random run by which a board with causality tests itself."""

from __future__ import annotations

from racetrap.fpga.gpu.self_test import INSTRUCTIONS, trace_in_largest_region
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.trace import Trace
from racetrap.sim.cosim.causality.random_events import random_events
from racetrap.sim.cosim.causality.styles import STYLES


def random_trace(params: CausalityParams, seed: int) -> Trace:
    """A random run in the region that every device of these parameters can monitor."""
    return trace_in_largest_region(
        params,
        lambda region: random_events(params, region, STYLES["mixed"], seed, INSTRUCTIONS),
    )
