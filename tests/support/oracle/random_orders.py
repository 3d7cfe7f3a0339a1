"""Random memory orders for the accesses and fences of a trace."""

from random import Random

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
