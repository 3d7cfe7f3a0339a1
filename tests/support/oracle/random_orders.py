"""Random memory orders for the accesses and fences of a trace, and barriers of warps."""

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


def with_random_orders(trace: Trace, rng: Random) -> Trace:
    """The trace with an order of each strong access and each fence."""
    events = trace.events.copy()
    for event in events:
        kind = EventKind(event["kind"])
        if kind <= EventKind.FENCE and (event["strong"] or kind == EventKind.FENCE):
            event["order"] = rng.choice(_CHOICES.get(kind, _OTHERS))
    return Trace(trace.header, events, trace.lanes)


def with_warp_barriers(trace: Trace, rng: Random) -> Trace:
    """The trace with a barrier of a warp's lanes behind some of its accesses."""
    parts = []
    for event in trace.events:
        parts.append(event)
        if event["kind"] <= EventKind.FENCE and rng.random() < 0.2:
            barrier = np.zeros((), dtype=event.dtype)
            for name in ("sm", "slot", "warp"):
                barrier[name] = event[name]
            barrier["kind"], barrier["pc"] = EventKind.WARP_BARRIER, 0x4_0000
            barrier["mask"] = rng.choice((0, int(event["mask"]), rng.randrange(1, 1 << 32)))
            lanes = int(event["mask"]).bit_count() if event["kind"] != EventKind.FENCE else 0
            barrier["first_lane"] = event["first_lane"] + lanes
            parts.append(barrier)
    return Trace(trace.header, np.array(parts, dtype=trace.events.dtype), trace.lanes)
