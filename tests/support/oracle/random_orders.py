"""Random memory orders for the accesses and fences of a trace, and barriers of warps."""

from collections.abc import Callable
from random import Random

import numpy as np

from racetrap.golden_model.events import EventKind, MemoryOrder
from racetrap.golden_model.trace import Trace

_CHOICES = {
    EventKind.LOAD: (MemoryOrder.IMPLIED, MemoryOrder.RELAXED, MemoryOrder.ACQUIRE),
    EventKind.STORE: (MemoryOrder.IMPLIED, MemoryOrder.RELAXED, MemoryOrder.RELEASE),
}
_OTHERS = (
    MemoryOrder.IMPLIED, MemoryOrder.ACQUIRE, MemoryOrder.RELEASE, MemoryOrder.ACQ_REL,
)  # fmt: skip

#: Fields of a barrier behind an event.
_BarrierBehind = Callable[[np.void], dict[str, int]]


def with_random_orders(trace: Trace, rng: Random) -> Trace:
    """The trace with an order of each strong access and each fence."""
    events = trace.events.copy()
    for event in events:
        kind = EventKind(event["kind"])
        if kind <= EventKind.FENCE and (event["strong"] or kind == EventKind.FENCE):
            event["order"] = rng.choice(_CHOICES.get(kind, _OTHERS))
    return Trace(trace.header, events, trace.lanes)


def _with_barriers(trace: Trace, rng: Random, barrier_behind: _BarrierBehind) -> Trace:
    """The trace with barriers behind some of its accesses and fences."""
    parts = []
    for event in trace.events:
        parts.append(event)
        if event["kind"] <= EventKind.FENCE and rng.random() < 0.2:
            barrier = np.zeros((), dtype=event.dtype)
            for name, value in barrier_behind(event).items():
                barrier[name] = value
            for name in ("sm", "slot"):
                barrier[name] = event[name]
            lanes = int(event["mask"]).bit_count() if event["kind"] != EventKind.FENCE else 0
            barrier["first_lane"] = event["first_lane"] + lanes
            parts.append(barrier)
    return Trace(trace.header, np.array(parts, dtype=trace.events.dtype), trace.lanes)


def with_warp_barriers(trace: Trace, rng: Random) -> Trace:
    """The trace with a barrier of a warp's lanes behind some of its accesses."""

    def behind(event: np.void) -> dict[str, int]:
        mask = rng.choice((0, int(event["mask"]), rng.randrange(1, 1 << 32)))
        kind = EventKind.WARP_BARRIER
        return {"kind": kind, "warp": event["warp"], "pc": 0x4_0000, "mask": mask}

    return _with_barriers(trace, rng, behind)


def with_partial_barriers(trace: Trace, rng: Random) -> Trace:
    """The trace with barriers of some warps of a block, and arrivals at them, behind accesses."""
    placed = trace.events[trace.events["kind"] == EventKind.BLOCK_PLACED]
    fewest = int(placed["warp_count"].min(initial=1))

    def behind(event: np.void) -> dict[str, int]:
        barrier = {"pc": 0x4_1000, "grid_block": rng.randrange(2)}
        if rng.random() < 0.5:
            return barrier | {"kind": EventKind.BARRIER_ARRIVE, "warp": event["warp"]}
        return barrier | {"kind": EventKind.PARTIAL_BARRIER, "mask": rng.randrange(1 << fewest)}

    return _with_barriers(trace, rng, behind)
