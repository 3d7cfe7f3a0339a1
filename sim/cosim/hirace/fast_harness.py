"""HiRace's part of the fast co-simulation."""

from __future__ import annotations

from pathlib import Path

from racetrap.sim.cosim.gpu.gpu_harness import gpu_harness

HARNESS = gpu_harness(Path(__file__))
