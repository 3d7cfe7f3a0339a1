"""Timelines of races with accelerators: maintenance, syncs and accesses to the same lines, what is
missing, and why what is there does not help."""

import pytest

from racetrap.golden_model.noncoherent.noncoherent import Noncoherent
from racetrap.golden_model.noncoherent.rules import Rule
from racetrap.golden_model.trace import NoncoherentTrace
from racetrap.golden_model.trace.noncoherent.operations import (
    MemorySystem,
    NoncoherentTraceHeader,
    Operation,
    OperationKind,
)
from racetrap.sim.accelerator.compiled.detector import run_compiled
from racetrap.verdict.accelerators.timelines import timeline_of
from racetrap.verdict.timeline import Sort

_K = OperationKind
_MEMORY = MemorySystem(line_bytes=32, granule_bytes=32, engines=2, prefetch=True)
_DATA, _OTHER = 0x1000, 0x2000


def _timelines(operations, mode="strict"):
    """Timelines by rule; the PC of an operation is its number from 0x40, unless it has one."""
    written = [
        each if each.pc else each._replace(pc=0x40 + number)
        for number, each in enumerate(operations)
    ]
    locations = {0x40 + number: f"a.c:{number}" for number in range(len(written))}
    header = NoncoherentTraceHeader(memory=_MEMORY, locations=locations)
    trace = NoncoherentTrace.from_events(header, written)
    found = run_compiled(Noncoherent(_MEMORY, mode), trace.events)
    return {race.rule: timeline_of(race, trace, _MEMORY) for race in found.races}


def _at(kind, address=_DATA, size=64, **more):
    return Operation(kind, address, size, **more)


def _shown(timeline):
    return [(moment.sides, moment.words, moment.lack) for moment in timeline.moments]


def test_a_clean_of_other_bytes_and_one_that_comes_too_late():
    (timeline,) = _timelines([
        _at(_K.CACHED_WRITE), _at(_K.CACHED_WRITE, _OTHER), _at(_K.CACHE_CLEAN, _OTHER),
        _at(_K.DMA_READ), _at(_K.CACHE_CLEAN), Operation(_K.SYNC),
    ]).values()  # fmt: skip
    assert timeline.actors == ("CPU", "engine 0")
    assert timeline.missing == "no clean"
    assert _shown(timeline) == [
        ((0,), "cached write", ""), ((0,), "cache clean", "other bytes"),
        ((1,), "dma read starts", ""), ((0,), "cache clean", "too late"),
        ((0, 1), "sync with engine 0", ""),
    ]  # fmt: skip
    assert [moment.is_access for moment in timeline.moments] == [True, False, True, False, False]
    assert [moment.name for moment in timeline.moments] == [
        "0x1000, 64 B", "0x2000, 64 B", "0x1000, 64 B", "0x1000, 64 B", "",
    ]  # fmt: skip
    assert [moment.place for moment in timeline.moments] == [f"a.c:{n}" for n in (0, 2, 3, 4, 5)]
    assert [moment.sort for moment in timeline.moments[:2]] == [Sort.ACCESS, Sort.ORDER]
    assert timeline.bands == ((0, 0, 3, "dirty in the cache"), (1, 2, 4, "DMA in flight"))
    # The other write is left out.
    assert [moment.skipped for moment in timeline.moments] == [0, 1, 0, 0, 0]


def test_a_sync_with_another_engine_and_one_that_comes_too_late():
    timeline = _timelines([
        _at(_K.DMA_WRITE), Operation(_K.SYNC, engine=1), _at(_K.UNCACHED_READ),
        Operation(_K.SYNC_ALL), Operation(_K.SYNC),
    ])[Rule.UNCACHED_READ_DMA]  # fmt: skip
    assert timeline.actors == ("engine 0", "CPU")
    assert timeline.missing == "no sync"
    assert _shown(timeline) == [
        ((0,), "dma write starts", ""), ((1,), "sync with engine 1", "other engine"),
        ((1,), "uncached read", ""), ((0, 1), "sync all", "too late"),
        ((0, 1), "sync with engine 0", ""),
    ]  # fmt: skip
    assert timeline.bands == ((0, 0, 3, "DMA in flight"),)


def test_an_invalidation_before_the_data_has_come():
    timeline = _timelines([
        _at(_K.CACHED_READ), _at(_K.DMA_WRITE), _at(_K.CACHE_INVALIDATE), Operation(_K.SYNC),
        _at(_K.CACHED_READ),
    ])[Rule.STALE_READ]  # fmt: skip
    assert timeline.missing == "no invalidate"
    assert _shown(timeline) == [
        # That of the line that was filled.
        ((1,), "cached read", ""), ((0,), "dma write starts", ""),
        ((1,), "cache invalidate", "too early"), ((0, 1), "sync with engine 0", ""),
        ((1,), "cached read", ""),
    ]  # fmt: skip
    assert timeline.bands == ((0, 1, 3, "DMA in flight"),)


def test_two_engines():
    timeline = _timelines([
        _at(_K.DMA_WRITE), Operation(_K.SYNC, engine=1), _at(_K.DMA_READ, engine=1),
        Operation(_K.SYNC), Operation(_K.SYNC, engine=1),
    ])[Rule.TWO_ENGINES]  # fmt: skip
    assert timeline.actors == ("engine 0", "engine 1")
    assert _shown(timeline) == [
        ((0,), "dma write starts", ""), ((1,), "sync with engine 1", "other engine"),
        ((1,), "dma read starts", ""), ((0,), "sync with engine 0", "too late"),
        ((1,), "sync with engine 1", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("operations", "rule", "actors", "missing"),
    [
        ((_K.CACHED_WRITE, _K.UNCACHED_READ), Rule.UNCACHED_READ_DIRTY,
         ("CPU, cached", "CPU, uncached"), "no clean"),
        ((_K.CACHED_WRITE, _K.UNCACHED_WRITE), Rule.UNCACHED_WRITE_DIRTY,
         ("CPU, cached", "CPU, uncached"), "no flush"),
        ((_K.CACHED_WRITE, _K.CACHE_INVALIDATE, _K.CACHED_READ), Rule.LOST_DATA,
         ("CPU, cached", "CPU, maintenance"), "no clean"),
        ((_K.CACHED_READ, _K.UNCACHED_WRITE, _K.CACHED_READ), Rule.STALE_READ,
         ("CPU, uncached", "CPU, cached"), "no invalidate"),
    ],
)  # fmt: skip
def test_races_within_the_cpu_are_of_two_ways_to_memory(operations, rule, actors, missing):
    timeline = _timelines([_at(kind) for kind in operations])[rule]
    assert timeline.actors == actors
    assert timeline.missing == missing
    assert [moment.sides for moment in timeline.moments if moment.is_access] == [(0,), (1,)]


def test_maintenance_is_shown_beside_the_cached_accesses_of_the_cpu():
    timeline = _timelines([
        _at(_K.CACHED_WRITE), _at(_K.CACHE_CLEAN, _OTHER), _at(_K.UNCACHED_READ),
        _at(_K.CACHE_CLEAN),
    ])[Rule.UNCACHED_READ_DIRTY]  # fmt: skip
    assert _shown(timeline) == [
        ((0,), "cached write", ""), ((0,), "cache clean", "other bytes"),
        ((1,), "uncached read", ""), ((0,), "cache clean", "too late"),
    ]  # fmt: skip


def test_neighbours_in_a_granule_lack_no_operation():
    (timeline,) = _timelines([
        _at(_K.CACHED_WRITE, _DATA, 16), _at(_K.CACHE_CLEAN, _OTHER),
        _at(_K.DMA_READ, _DATA + 16, 16), Operation(_K.SYNC),
    ], "thesis").values()  # fmt: skip
    assert timeline.missing == "same granule"
    assert [moment.lack for moment in timeline.moments] == [""] * 4


def test_of_the_rounds_of_a_loop_that_whose_bytes_race_is_shown():
    """A race names the latest operation of the place."""
    loop = [_at(_K.DMA_WRITE, _DATA + 0x100 * number, 32, pc=0x80) for number in range(4)]
    timeline = _timelines([*loop, _at(_K.UNCACHED_READ, _DATA + 0x100, 32)])[Rule.UNCACHED_READ_DMA]
    assert [(moment.event, moment.name, moment.times) for moment in timeline.moments] == [
        (1, "0x1100, 32 B", 3), (4, "0x1100, 32 B", 1),
    ]  # fmt: skip


def test_ranges_of_rows_touch_what_lies_between():
    rows = Operation(_K.CACHE_CLEAN, _DATA - 0x100, 32, 4, 0x100)
    away = Operation(_K.CACHE_CLEAN, _DATA + 0x100, 32, 4, 0x100)
    timeline = _timelines([
        _at(_K.CACHED_WRITE), away, _at(_K.DMA_READ), rows,
    ])[Rule.DMA_READ_DIRTY]  # fmt: skip
    assert [(moment.name, moment.lack) for moment in timeline.moments] == [
        ("0x1000, 64 B", ""), ("0x1100, 128 B", "other bytes"), ("0x1000, 64 B", ""),
        ("0xf00, 128 B", "too late"),
    ]  # fmt: skip


def test_operations_without_a_place_are_known_by_their_numbers():
    header = NoncoherentTraceHeader(memory=_MEMORY)
    trace = NoncoherentTrace.from_events(header, [_at(_K.CACHED_WRITE), _at(_K.DMA_READ)])
    (race,) = run_compiled(Noncoherent(_MEMORY), trace.events).races
    timeline = timeline_of(race, trace, _MEMORY)
    assert [moment.place for moment in timeline.moments] == ["operation 0", "operation 1"]
