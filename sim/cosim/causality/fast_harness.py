"""Causality's part of the fast co-simulation."""

from __future__ import annotations

from pathlib import Path

from racetrap.golden_model.causality.packets import Told as Kind
from racetrap.sim.cosim.gpu.gpu_harness import Told, gpu_harness

HARNESS = gpu_harness(Path(__file__), told=lambda params: Told(params.told_layout, Kind.MARKER))
