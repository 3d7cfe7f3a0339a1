"""Causes of missed races.

A race of the oracle is two accesses to one word.  The state machine's step at the second one shows
the cause.

Ref: HiRace (SC'24): it tracks only barriers and atomics, and a word names one thread.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from enum import StrEnum
from itertools import islice

from racetrap.golden_model.barracuda import Race, RaceClass
from racetrap.golden_model.events import Space
from racetrap.golden_model.gpu.entry_locator import entry_of
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.hirace.hirace import Hirace
from racetrap.golden_model.hirace.packets import Packet, Step
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.hirace.states import Sync
from racetrap.golden_model.trace import Trace
from racetrap.verdict.gpu.accesses import common_word
from racetrap.verdict.gpu.fit import region_with_window
from racetrap.verdict.gpu.oracle import REPORTED, not_checked


class Cause(StrEnum):
    """Cause why a race of the oracle has no report."""

    HANDED_OVER = "handed-over word"
    BARRIER_SEEN = "barrier seen, order not"
    NO_RULE = "no rule of the method"


def outcomes(trace: Trace, params: HiraceParams, races: Sequence[Race]) -> list[str]:
    """Outcome of each race of the oracle: reported, not checked, or a ``Cause``."""
    region = region_with_window(trace, params)
    entries = [
        None if race.race_class == RaceClass.INTER_LAUNCH else _entry(trace, params, region, race)
        for race in races
    ]
    seen = _histories(trace, params, region, races, entries)
    found = []
    for race, entry in zip(races, entries, strict=True):
        found.append(not_checked(race) if entry is None else _cause(race, seen[entry]))
    return found


def _entry(trace: Trace, params: HiraceParams, region: Region, race: Race) -> int | None:
    """Entry of the word that both accesses touch; None if it is not monitored."""
    word = common_word(trace, race.first.event, race.second.event, race.address)
    event = trace.events[race.second.event]
    block = params.block_id(int(event["sm"]), int(event["slot"]))
    is_shared = race.space == Space.SHARED
    packet = Packet(0, 0, int(is_shared), 0, 0, block if is_shared else 0, 0, 0, 0, 0, word)
    return entry_of(params, region, packet)


def _histories(
    trace: Trace, params: HiraceParams, region: Region, races: Sequence[Race],
    entries: Sequence[int | None],
) -> dict[int, list[tuple[int, Step]]]:  # fmt: skip
    """Steps on each of some entries, with the numbers of their events."""
    found: defaultdict[int, list[tuple[int, Step]]] = defaultdict(list)
    wanted = {entry for entry in entries if entry is not None}
    if not wanted:
        return found
    hirace, end = (
        Hirace(params, region, keep_races=False),
        max(race.second.event for race in races) + 1,
    )
    for number, event in enumerate(islice(trace, end)):
        for step in hirace.run(event):
            entry = entry_of(params, region, step.packet)
            if entry in wanted and entry is not None:
                found[entry].append((number, step))
    return found


def _cause(race: Race, history: Sequence[tuple[int, Step]]) -> str:
    second = [step for number, step in history if number == race.second.event]
    if any(step.race for step in second):
        return REPORTED
    if any(race.first.event < number < race.second.event for number, _ in history):
        return Cause.HANDED_OVER
    if any(step.relation <= step.sync != Sync.NONE for step in second):
        return Cause.BARRIER_SEEN
    return Cause.NO_RULE
