"""Queries of a verdict on the accesses in a GPU's trace."""

from __future__ import annotations

from typing import Any

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


def common_word(trace: Trace, first: int, second: int, address: int) -> int:
    """Lowest word from a byte address on that the accesses of two events both touch; the address's
    own if there is none."""
    common = words_of(trace, first) & words_of(trace, second)
    return min((word for word in common if word >= address >> 2), default=address >> 2)


def shared_accesses(trace: Trace) -> int:
    """Accesses of warps to shared memory."""
    events = trace.events
    return int(((events["kind"] <= EventKind.ATOMIC) & (events["space"] == Space.SHARED)).sum())


def unwatched_shared(trace: Trace, params: Any) -> int:
    """All accesses to shared memory if a detector has no window for it, or none: those beyond the
    window are counted elsewhere."""
    return 0 if params.shared_bytes else shared_accesses(trace)
