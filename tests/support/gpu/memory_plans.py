"""Behaviour of the memories in a testbench's plan."""

from __future__ import annotations

from typing import Any


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
