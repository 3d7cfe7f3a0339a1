"""Plans of a GPU detector's testbench: behaviour of the memories, and random traffic in styles."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.gpu.region import Region

_DATA_BASE = 0x1_0000
_METADATA_BASE = 0x1_0000


def fast_memory() -> dict[str, Any]:
    """Memories that answer at once, a ring that is read often: nothing waits."""
    return {"ring_log2": 8, "drain_cycles": 100}


def hard_memory() -> dict[str, Any]:
    """Slow memories that reorder, stall and fail, a small ring that is read seldom."""
    return {
        "memory": {
            "latency": 2, "jitter": 12, "ready": 0.6, "read_errors": 0.02, "write_errors": 0.02,
        },
        "report_memory": {"latency": 2, "jitter": 6, "ready": 0.6, "write_errors": 0.05},
        "busy": 0.8, "longest_idle": 6, "ring_log2": 3, "drain_cycles": 150,
    }  # fmt: skip


def random_plan(
    params: GpuParams, styles: list[str], instructions: int, memory: dict[str, Any]
) -> dict[str, Any]:
    """Plan with one launch for each style, every other one with the report filter."""
    size = max(12, params.min_region_log2)
    launches = [
        {"style": name, "instructions": instructions, "report_filter": bool(number % 2)}
        for number, name in enumerate(styles)
    ]
    region = Region(_DATA_BASE >> size << size, size, _METADATA_BASE)
    return {"region": asdict(region), "launches": launches, **memory}
