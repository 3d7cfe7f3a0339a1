"""Queries of a verdict on the accesses in a GPU's trace."""

from __future__ import annotations

from racetrap.golden_model.events import EventKind, Space
from racetrap.golden_model.trace import Trace


def words_of(trace: Trace, number: int) -> set[int]:
    """Word addresses that an event's access touches."""
    event = trace.events[number]
    first = int(event["first_lane"])
    addresses = trace.lanes["address"][first : first + int(event["mask"]).bit_count()]
    last = int(event["size"]) - 1
    return {
        word
        for address in addresses.tolist()
        for word in range(address >> 2, (address + last >> 2) + 1)
    }


def shared_accesses(trace: Trace) -> int:
    """Accesses of warps to shared memory."""
    events = trace.events
    return int(((events["kind"] <= EventKind.ATOMIC) & (events["space"] == Space.SHARED)).sum())
