"""Findings of an exact check of threads: sentences and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from racetrap.golden_model.call_stacks import call_stack
from racetrap.golden_model.happens_before.lock_order import LockOrder
from racetrap.golden_model.happens_before.race_context import RaceContext
from racetrap.golden_model.trace.threads.events import ThreadTraceHeader
from racetrap.presenters.line_pairs import stack_to_dict
from racetrap.presenters.sigrace_races import thread_race_to_dict
from racetrap.schemas.thread_races import LockOrder as LockOrderDocument
from racetrap.schemas.values import document
from racetrap.verdict.line_pairs import place_of
from racetrap.verdict.threads.exact_check import ExactFindings
from racetrap.verdict.threads.line_races import address_text


def inversion_sentence(cycle: Sequence[LockOrder], header: ThreadTraceHeader) -> str:
    """A lock-order inversion in one sentence, beginning with the place of its first lock."""
    locations = header.locations
    orders = "; ".join(
        f"thread {order.thread} acquires {address_text(order.acquired, header)} at "
        f"{place_of(order.acquired_pc, locations)} and holds {address_text(order.held, header)} "
        f"since {place_of(order.held_pc, locations)}"
        for order in cycle
    )
    return (
        f"{place_of(cycle[0].acquired_pc, locations)}: lock-order inversion, a deadlock at another "
        f"time: {orders}"
    )


def exact_to_dict(findings: ExactFindings, header: ThreadTraceHeader) -> dict[str, Any]:
    """Plain data, for JSON."""
    return {
        "static": len(findings.races),
        "suppressed": findings.suppressed,
        "checked_events": findings.events,
        "races": [
            {
                **thread_race_to_dict(race, header),
                "addresses": addresses,
                **_context_to_dict(context, header),
            }
            for (race, addresses), context in zip(findings.races, findings.contexts, strict=True)
        ],
        "lock_order_inversions": _inversions_to_dict(findings.inversions, header.locations),
    }


def _context_to_dict(context: RaceContext, header: ThreadTraceHeader) -> dict[str, Any]:
    locations = header.locations

    def place(pc: int) -> dict[str, Any]:
        return {"pc": pc, "place": locations.get(pc)}

    block = context.allocation
    return {
        "stacks": [
            stack_to_dict(tuple(call_stack(header.frames, frame)))
            for frame in (context.first_frame, context.second_frame)
        ],
        "locks": [
            [
                {"address": lock.address, "class": lock.sync_class.name.lower()} | place(lock.pc)
                for lock in locks
            ]
            for locks in (context.first, context.second)
        ],
        "allocation": block and block._asdict() | place(block.pc),
    }


def _inversions_to_dict(
    cycles: Iterable[Sequence[LockOrder]], locations: Mapping[int, str]
) -> list[list[LockOrderDocument]]:
    """Lock-order inversions as plain data, for JSON."""
    return [
        [
            document(
                LockOrderDocument, order, held_place=locations.get(order.held_pc),
                acquired_place=locations.get(order.acquired_pc),
            )
            for order in cycle
        ]
        for cycle in cycles
    ]  # fmt: skip
