"""Throughput of the check of accelerators and of their recorder: figures of `racetrap bench`, and
their tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from racetrap.evaluation.noncoherent import accelerator_rates
from racetrap.evaluation.throughput.figures import BenchTable

#: What is checked; co-simulation has no workload of its own.
UNIT, WORKLOAD = "operations", None
HAS_MEMORY = False


def measurements(latency: int | None) -> Mapping[str, Callable[[], Any]]:
    """What measures each figure, by its key in JSON; nothing of it is in memory."""
    return {
        "analysis": lambda: [
            asdict(accelerator_rates.measure_analysis(*one)) for one in accelerator_rates.ANALYSES
        ],
        "recorder": lambda: {
            "neighbours": asdict(accelerator_rates.recorder_rate(1)),
            "scattered": asdict(accelerator_rates.recorder_rate(16)),
        },
    }


def tables(figures: Mapping[str, Any]) -> Iterator[BenchTable]:
    """Tables of the figures."""
    yield (
        "From a trace's file to the verdict, noncoherent: seconds of CPU time",
        ["operations", "mode", "buffers", "most runs", "read", "check"],
        [list(row.values()) for row in figures["analysis"]],
    )
    yield (
        "Recorder, noncoherent",
        ["accesses", "accesses/s", "slowest run", "fastest run"],
        [[name, *rate.values()] for name, rate in figures["recorder"].items()],
    )
