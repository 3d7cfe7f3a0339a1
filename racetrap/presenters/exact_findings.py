"""Findings of an exact check of threads: text and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console

from racetrap.evaluation.sigrace.exact_check import ExactFindings
from racetrap.golden_model.happens_before.lock_order import LockOrder
from racetrap.golden_model.happens_before.race_context import RaceContext
from racetrap.golden_model.trace.threads.events import SyncClass
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.presenters.locations import pc_text
from racetrap.presenters.sigrace_races import print_numbered, thread_race_to_dict

__all__ = ["findings_to_dict", "print_findings"]

_LOCK_NAMES = {
    SyncClass.MUTEX: "mutex",
    SyncClass.RWLOCK_READ: "reader lock",
    SyncClass.RWLOCK_WRITE: "writer lock",
}


def print_findings(console: Console, findings: ExactFindings, trace: ThreadTrace) -> None:
    """Print the races, each with its context, the inversions, and how many there are."""
    locations, races = trace.header.locations, findings.races
    for number, ((race, addresses), context) in enumerate(
        zip(races, findings.contexts, strict=True)
    ):
        print_numbered(console, number, race, addresses, locations)
        for name, locks in (("one", context.first), ("other", context.second)):
            held = ", ".join(
                f"{_LOCK_NAMES[lock.sync_class]} {lock.address:#x} since "
                f"{pc_text(lock.pc, locations)}"
                for lock in locks
            )
            console.print(f"  {name} holds {held or 'no lock'}", markup=False)
        if block := context.allocation:
            console.print(
                f"  in a block of {block.size} bytes from {block.address:#x} on, allocated at "
                f"{pc_text(block.pc, locations)} by thread {block.thread}",
                markup=False,
            )
        console.print()
    _print_lock_orders(console, findings.inversions, locations)
    console.print(
        f"Races: {len(races)} pair{'s' * (len(races) != 1)} of instructions in {len(trace)} "
        f"events of {trace.header.threads} threads; lock-order inversions: "
        f"{len(findings.inversions)}; suppressed: {findings.suppressed}."
    )


def _print_lock_orders(
    console: Console, cycles: Iterable[Sequence[LockOrder]], locations: Mapping[int, str]
) -> None:
    for number, cycle in enumerate(cycles):
        console.print(f"Lock-order inversion {number}: a deadlock at another time", markup=False)
        for order in cycle:
            console.print(
                f"  thread {order.thread} acquires {order.acquired:#x} at "
                f"{pc_text(order.acquired_pc, locations)}\n"
                f"    and holds {order.held:#x} since {pc_text(order.held_pc, locations)}",
                markup=False,
            )
        console.print()


def findings_to_dict(findings: ExactFindings, locations: Mapping[int, str]) -> dict[str, Any]:
    """Plain data, for JSON."""
    return {
        "static": len(findings.races),
        "suppressed": findings.suppressed,
        "races": [
            thread_race_to_dict(race, locations)
            | {"addresses": addresses}
            | _context_to_dict(context, locations)
            for (race, addresses), context in zip(findings.races, findings.contexts, strict=True)
        ],
        "lock_order_inversions": _inversions_to_dict(findings.inversions, locations),
    }


def _context_to_dict(context: RaceContext, locations: Mapping[int, str]) -> dict[str, Any]:
    def place(pc: int) -> dict[str, Any]:
        return {"pc": pc, "place": locations.get(pc)}

    block = context.allocation
    return {
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
) -> list[list[dict[str, Any]]]:
    """Lock-order inversions as plain data, for JSON."""
    return [
        [
            {"thread": order.thread, "held": order.held, "acquired": order.acquired,
             "held_pc": order.held_pc, "held_place": locations.get(order.held_pc),
             "acquired_pc": order.acquired_pc, "acquired_place": locations.get(order.acquired_pc)}
            for order in cycle
        ]
        for cycle in cycles
    ]  # fmt: skip
