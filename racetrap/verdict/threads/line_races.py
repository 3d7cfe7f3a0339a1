"""Races between threads of a program, between lines of its sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from racetrap.golden_model.call_stacks import call_stack
from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace
from racetrap.golden_model.happens_before.race_context import HeldLock, RaceContext, RaceContexts
from racetrap.golden_model.trace.threads.events import SyncClass, ThreadTraceHeader
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.verdict.line_pairs import DividedPairs, LinePairs, LineRace, Side, place_of
from racetrap.verdict.threads.timelines import timeline_of
from racetrap.verdict.timeline import Timeline

if TYPE_CHECKING:
    from racetrap.verdict.baseline import Baseline

_LOCK_NAMES = {
    SyncClass.MUTEX: "mutex",
    SyncClass.RWLOCK_READ: "reader lock",
    SyncClass.RWLOCK_WRITE: "writer lock",
}


def address_text(address: int, header: ThreadTraceHeader) -> str:
    """Address of a granule, with the variables in it, as far as known."""
    names = " or ".join(
        (f"byte {address - first} of " if address > first else "")
        + f"{variable.name}, {variable.size} byte{'s' * (variable.size > 1)}"
        for first, variable in header.variables_at(address).items()
    )
    return f"{address:#x} ({names})" if names else f"{address:#x}"


def thread_race(
    race: ThreadRace, header: ThreadTraceHeader, instances: int = 1,
    context: RaceContext | None = None,
) -> LineRace:  # fmt: skip
    """A race of two threads.

    Parameters
    ----------
    race : ThreadRace
        The race.
    header : ThreadTraceHeader
        Header of the trace, with source places and variables.
    instances : int
        Number of instances.
    context : RaceContext, optional
        Locks that are held, and allocation of the memory.
    """

    locations = header.locations

    def side(party: RaceParty, locks: Sequence[HeldLock], frame: int) -> Side:
        access = "store" if party.is_write else "load"
        actor = f"thread {party.thread}, epoch {party.epoch}"
        if context:
            held = ", ".join(
                f"{_LOCK_NAMES[lock.sync_class]} {address_text(lock.address, header)} since "
                f"{place_of(lock.pc, locations)}"
                for lock in locks
            )
            actor += f", holds {held or 'no lock'}"
        stack = tuple(call_stack(header.frames, frame))
        return Side(place_of(party.pc, locations), access, actor, stack=stack)

    where = f"address {address_text(race.address, header)}"
    if context and (block := context.allocation):
        where += (
            f", in a block of {block.size} bytes from {block.address:#x} on, allocated at "
            f"{place_of(block.pc, locations)} by thread {block.thread}"
        )
    return LineRace(
        side(race.first, *((context.first, context.first_frame) if context else ((), 0))),
        side(race.second, *((context.second, context.second_frame) if context else ((), 0))),
        "unordered", "no synchronisation orders them", "inter-thread", where, instances,
        is_ordered=False,
    )  # fmt: skip


def by_static_race(races: Iterable[ThreadRace]) -> dict[tuple[int, int], list[ThreadRace]]:
    """Dynamic races by the two instructions, in the order of their first instances."""
    groups: dict[tuple[int, int], list[ThreadRace]] = {}
    for race in races:
        groups.setdefault(race.static_key, []).append(race)
    return groups


def divide_thread_races(
    races: Sequence[ThreadRace], trace: ThreadTrace, baseline: Baseline | None
) -> tuple[DividedPairs, list[ThreadRace]]:
    """Races of one run by pair of lines, and those of them that a baseline does not know."""
    pairs = LinePairs()
    contexts = cache(lambda: RaceContexts(trace))

    def line_race(race: ThreadRace, instances: int) -> LineRace:
        def timeline() -> Timeline | None:
            return timeline_of(race, contexts().of(race), trace)

        return replace(thread_race(race, trace.header, instances), make_timeline=timeline)

    by_line = {
        instructions: line_race(group[0], len(group))
        for instructions, group in by_static_race(races).items()
    }
    pairs.add(by_line.values())
    divided = pairs.divide(baseline)
    new = divided.new_places
    return divided, [race for race in races if by_line[race.static_key].places in new]
