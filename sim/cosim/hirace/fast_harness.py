"""HiRace's part of the fast co-simulation."""

from __future__ import annotations

from pathlib import Path

from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.sim.cosim.fast.folding import fold_registers
from racetrap.sim.cosim.gpu.gpu_harness import gpu_harness

__all__ = ["HARNESS"]


def _rewrite(verilog: str, params: HiraceParams) -> str:
    return fold_registers(verilog)


HARNESS = gpu_harness(_rewrite, Path(__file__))
