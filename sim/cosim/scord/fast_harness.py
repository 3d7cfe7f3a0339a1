"""ScoRD's part of the fast co-simulation."""

from __future__ import annotations

from pathlib import Path

from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.fast.folding import fold_registers
from racetrap.sim.cosim.gpu.gpu_harness import gpu_harness
from racetrap.sim.cosim.scord.tracker_clocks import gate_trackers


def _rewrite(verilog: str, params: ScordParams) -> str:
    return gate_trackers(fold_registers(verilog), params.sm_count)


HARNESS = gpu_harness(
    Path(__file__), Path(__file__).with_name("tracker_clocks.py"),
    leaving_out=lambda params: params.sm_count if params.leaves_out else 0,
    fencing=lambda params: params.sm_count,
    other_lanes=lambda params: params.fence_lanes - 1,
    rewrite=_rewrite,
)  # fmt: skip
