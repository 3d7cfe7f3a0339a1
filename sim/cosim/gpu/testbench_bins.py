"""Bins of coverage that only the testbench of a GPU detector can hit, and those that it cannot."""

from __future__ import annotations

_ALWAYS_READY = "the device takes every response at once: it keeps room for what it asked for"
#: Memories, streams and reports.
TESTBENCH_BINS = (
    *(f"axi.{channel}.stalled" for channel in ("ar", "aw", "w", "r", "b")), "axi.r.reordered",
    "axi.r.error", "axi.b.error", "entry.forwarded", "entry.read", "packet.stalled",
    "transaction.stalled", "transaction.back_to_back", "report.ring_full", "report.dropped",
    "report.suppressed", "irq", "launch",
)  # fmt: skip
#: Those of them that no stimulus can hit, with the reason.
NEVER_STALLED: dict[str, str] = {"axi.r.stalled": _ALWAYS_READY, "axi.b.stalled": _ALWAYS_READY}
