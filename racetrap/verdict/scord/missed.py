"""Causes of missed races.

A race of the oracle is two accesses to one word.  The detector's step at the second one, and the
history of the word's metadata entry in between, show the cause.  Wrapping counters can only make
ordered accesses look unordered: they cause false reports, never misses, so they are no cause here.

Ref: ScoRD (ISCA'20) Sections IV-A (locks), IV-B (caching) and V-A (the one false negative).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from racetrap.golden_model.barracuda import Race, RaceClass
from racetrap.golden_model.events import EventKind, Space
from racetrap.golden_model.scord.bloom_filter import is_empty, share_a_lock
from racetrap.golden_model.scord.metadata import unpack_entry
from racetrap.golden_model.scord.packets import Preliminary, Step
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.trace import Trace
from racetrap.verdict.gpu.accesses import common_word
from racetrap.verdict.gpu.fit import region_of
from racetrap.verdict.gpu.oracle import NOT_CHECKED
from racetrap.verdict.scord.detect import History, histories
from racetrap.verdict.scord.held_locks import held_locks


class Cause(StrEnum):
    """Outcome of a race of the oracle."""

    REPORTED = "reported"
    LEFT_OUT = "left out by policy"
    TAG_CONFLICT = "tag conflict"
    HANDED_OVER = "handed-over entry"
    BLOOM_COLLISION = "Bloom collision"
    LOCK_IN_COMMON = "lock in common"
    FENCE_SEEN = "fence seen, order not"
    NO_RULE = "no rule of the method"
    BARRIER_SEEN = "barrier seen, order not"


class Pair(NamedTuple):
    """Two accesses that race: numbers of their events, and the byte address at which their common
    words begin."""

    first: int
    second: int
    address: int


def outcomes(trace: Trace, params: ScordParams, races: Sequence[Race]) -> list[str]:
    """Outcome of each race of the oracle: a ``Cause``, or one of ``NOT_CHECKED``."""
    region = region_of(trace)
    kinds = [
        "warp" if race.race_class == RaceClass.DIVERGENCE
        else "launches" if race.race_class == RaceClass.INTER_LAUNCH
        else "shared" if race.space == Space.SHARED
        else "outside" if not region.contains(race.address)
        else ""
        for race in races
    ]  # fmt: skip
    monitored = [race for race, kind in zip(races, kinds, strict=True) if not kind]
    pairs = [Pair(race.first.event, race.second.event, race.address) for race in monitored]
    found = iter(causes(trace, params, pairs))
    return [NOT_CHECKED[kind] if kind else next(found).value for kind in kinds]


def causes(trace: Trace, params: ScordParams, pairs: Sequence[Pair]) -> list[Cause]:
    """What became of each race.

    Parameters
    ----------
    trace : Trace
        Run in which the oracle found the races.
    params : ScordParams
        Configuration of the detector.
    pairs : sequence of Pair
        Races in the monitored region.
    """
    if not pairs:
        return []  # nothing to watch: the whole run need not be checked again
    # An access may begin before the word shared with the other.
    pairs = [pair._replace(address=common_word(trace, *pair) << 2) for pair in pairs]
    spans: dict[int, range] = {}
    for pair in pairs:
        span = spans.get(pair.address, range(pair.first, pair.second + 1))
        spans[pair.address] = range(min(span.start, pair.first), max(span.stop, pair.second + 1))
    seen = histories(trace, params, spans)
    locks = held_locks(trace, params, {event for pair in pairs for event in pair[:2]})
    return [
        _cause(
            params, pair, seen[pair.address], locks[pair.first], locks[pair.second],
            _has_fence(trace, pair),
        )
        for pair in pairs
    ]  # fmt: skip


def _has_fence(trace: Trace, pair: Pair) -> bool:
    """Whether the warp of the earlier access has a fence before the later one."""
    events, first = trace.events[pair.first : pair.second], trace.events[pair.first]
    own = (events["sm"] == first["sm"]) & (events["warp"] == first["warp"])
    return bool((own & (events["kind"] == EventKind.FENCE)).any())


def _cause(
    params: ScordParams,
    pair: Pair,
    history: History,
    first_locks: frozenset[int],
    second_locks: frozenset[int],
    has_fence: bool,
) -> Cause:
    granule_mask = -(params.granularity // 4)
    granule = pair.address >> 2 & granule_mask
    own = {number: step for number, step in history if step.packet.word & granule_mask == granule}
    if not {pair.first, pair.second} <= own.keys():
        return Cause.LEFT_OUT
    second = own[pair.second]
    if second.race:
        return Cause.REPORTED
    between = [step for number, step in history if pair.first < number <= pair.second]
    if any(step.packet.word & granule_mask != granule or step.tag_conflict for step in between):
        return Cause.TAG_CONFLICT
    first = own[pair.first]
    entry = unpack_entry(params, second.before)
    party = first.packet.block, first.packet.warp, first.packet.generation
    if (entry["block"], entry["warp"], entry["generation"]) != party:
        return Cause.HANDED_OVER
    if second.preliminary == Preliminary.BARRIER:
        return Cause.BARRIER_SEEN
    if _locks_look_common(entry["filter"], second):
        return Cause.LOCK_IN_COMMON if first_locks & second_locks else Cause.BLOOM_COLLISION
    return Cause.FENCE_SEEN if has_fence else Cause.NO_RULE


def _locks_look_common(filter_bits: int, step: Step) -> bool:
    own = step.packet.filter
    return not is_empty(filter_bits) and not is_empty(own) and share_a_lock(filter_bits, own)
