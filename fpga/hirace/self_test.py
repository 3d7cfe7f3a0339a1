"""Random run by which a board with HiRace tests itself."""

from __future__ import annotations

from racetrap.fpga.gpu.self_test import INSTRUCTIONS, trace_in_largest_region
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.trace import Trace
from racetrap.sim.cosim.hirace.random_events import STYLES, random_events


def random_trace(params: HiraceParams, seed: int) -> Trace:
    """A random run in the region that every device of these parameters can monitor."""
    return trace_in_largest_region(
        params,
        lambda region: random_events(params, region, STYLES["mixed"], seed, INSTRUCTIONS),
    )
