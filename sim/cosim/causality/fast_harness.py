"""Causality's part of the fast co-simulation."""

from __future__ import annotations

from pathlib import Path

from racetrap.golden_model.causality.packets import CollectorEvent
from racetrap.sim.cosim.gpu.gpu_harness import CollectorPort, gpu_harness

HARNESS = gpu_harness(
    Path(__file__),
    told=lambda params: CollectorPort(params.collector_event_layout, CollectorEvent.MARKER),
)
