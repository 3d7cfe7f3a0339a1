"""Exact check of threads: races with their context, and lock-order inversions."""

from __future__ import annotations

from typing import NamedTuple

from racetrap.golden_model.happens_before.lock_order import LockOrder, lock_order_inversions
from racetrap.golden_model.happens_before.race_context import RaceContext, RaceContexts
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.exact_detector import ExactRace, exact_races, races_so_far
from racetrap.verdict.threads.suppressions import Suppressions


class ExactFindings(NamedTuple):
    """Findings of an exact check of a trace that are not suppressed.

    Parameters
    ----------
    races : list of ExactRace
        Pairs of instructions that race.
    contexts : list of RaceContext
        Context of the first instance of each.
    inversions : list of tuple of LockOrder
        Lock-order inversions.
    suppressed : int
        Races and inversions that are suppressed.
    events : int
        Events checked.
    """

    races: list[ExactRace]
    contexts: list[RaceContext]
    inversions: list[tuple[LockOrder, ...]]
    suppressed: int
    events: int


def check_exactly(
    trace: ThreadTrace, suppressions: Suppressions, fails_fast: bool = False
) -> ExactFindings:
    """Find all races and lock-order inversions of a trace, or the first race only.

    A suppression of an inversion names the places where locks are acquired while others are held.

    Parameters
    ----------
    trace : ThreadTrace
        The trace.
    suppressions : Suppressions
        Findings to suppress.
    fails_fast : bool
        Stop at the first event that races; inversions are searched only if there is none.

    Raises
    ------
    Failure
        If the detector cannot be compiled.
    """
    locations = trace.header.locations

    def is_suppressed(*pcs: int) -> bool:
        return suppressions.match([locations.get(pc, f"{pc:#x}") for pc in pcs])

    def unsuppressed(found: list[ExactRace]) -> list[ExactRace]:
        return [race for race in found if not is_suppressed(*race.first.static_key)]

    parts = races_so_far(trace) if fails_fast else [(len(trace), exact_races(trace))]
    for events, found in parts:  # noqa: B007
        if races := unsuppressed(found):
            break
    orders = [] if fails_fast and races else lock_order_inversions(trace)
    inversions = [
        cycle for cycle in orders if not is_suppressed(*(order.acquired_pc for order in cycle))
    ]
    contexts = RaceContexts(trace) if races else None
    return ExactFindings(
        races,
        [contexts.of(race.first) for race in races] if contexts else [],
        inversions,
        len(found) + len(orders) - len(races) - len(inversions),
        events,
    )
