"""Both modes on short traces: each rule, what tells them apart, and the thesis' graph."""

import random

import pytest

from racetrap.golden_model.noncoherent.noncoherent import MODES, Noncoherent, has_races
from racetrap.golden_model.noncoherent.rules import Overlap, Rule, cure, sentence
from racetrap.golden_model.trace.noncoherent.operations import (
    MemorySystem,
    Operation,
    OperationKind,
)
from racetrap.sim.accelerator.compiled.detector import run_compiled
from tests.support.noncoherent.graph import Graph
from tests.support.noncoherent.plain.thesis import Thesis

K = OperationKind
_MEMORY = MemorySystem(line_bytes=32, granule_bytes=32, engines=2)
_SYNC = Operation(K.SYNC)


def _races(mode, *operations, memory=_MEMORY):
    return run_compiled(Noncoherent(memory, mode), operations).races


def _rules(mode, *operations, memory=_MEMORY):
    return [race.rule.value for race in _races(mode, *operations, memory=memory)]


def _word(kind, address=0, engine=0):
    return Operation(kind, address, 4, engine=engine)


#: Two operations on the same bytes, and the rule they break; both modes agree.
_PAIRS = {
    "1b": (K.CACHED_WRITE, K.UNCACHED_READ),
    "1c": (K.DMA_WRITE, K.UNCACHED_READ),
    "2b": (K.CACHED_WRITE, K.UNCACHED_WRITE),
    "2c": (K.DMA_READ, K.UNCACHED_WRITE),
    "3j": (K.DMA_WRITE, K.CACHED_READ),
    "4g": (K.DMA_READ, K.CACHED_WRITE),
    "5b": (K.CACHED_WRITE, K.DMA_READ),
    "6b": (K.CACHED_WRITE, K.DMA_WRITE),
}
_DIRTY = ("1b", "2b", "5b", "6b")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rule", _PAIRS)
def test_pair(mode, rule):
    first, second = map(_word, _PAIRS[rule])
    (race,) = _races(mode, first, second)
    assert race.rule.value == rule
    assert (race.earlier.kind, race.later.kind) == _PAIRS[rule]
    assert (race.first, race.last, race.overlap) == (0, 3, Overlap.BYTES)
    assert not race.is_false_sharing
    assert sentence(race.rule)
    cured = Operation(K.CACHE_FLUSH, 0, 4) if rule in _DIRTY else _SYNC
    assert not _races(mode, first, cured, second)
    through = MemorySystem(write_through=True)
    assert _rules(mode, first, second, memory=through) == [rule] * (rule not in _DIRTY)


@pytest.mark.parametrize("mode", MODES)
def test_granules_mean_nothing_with_write_through(mode):
    operations = [_word(K.DMA_WRITE), _word(K.CACHED_WRITE, 4)]
    assert _rules(mode, *operations) == ["4g"]
    assert _rules(mode, *operations, memory=MemorySystem(write_through=True)) == []


def test_stale_lines_with_write_through():
    through = MemorySystem(write_through=True)
    read, written = _word(K.CACHED_READ), _word(K.DMA_WRITE)
    assert _rules("strict", read, written, _SYNC, read, memory=through) == ["stale-read"]
    # A cached write updates memory and the line.
    operations = read, written, _SYNC, _word(K.CACHED_WRITE), read
    assert _rules("strict", *operations, memory=through) == []


@pytest.mark.parametrize(
    ("rule", "is_real"),
    [("1b", False), ("2b", True), ("3j", False), ("4g", False), ("5b", False), ("6b", True)],
)
def test_neighbours_in_a_line(rule, is_real):
    """The thesis reports them all; those that can go wrong are reported by mode strict, too."""
    kinds = _PAIRS[rule]
    operations = _word(kinds[0], 0), _word(kinds[1], 16)
    (race,) = _races("thesis", *operations)
    assert race.rule.value == rule
    assert race.overlap is not Overlap.BYTES
    assert race.is_false_sharing is not is_real
    assert "Pad or align" in cure(race.rule, race.later.kind, race.overlap)
    assert bool(_races("strict", *operations)) is is_real


def test_write_back_over_dma_is_real_for_neighbours():
    operations = _word(K.DMA_WRITE, 0), _word(K.CACHED_WRITE, 16)
    for mode in MODES:
        (race,) = _races(mode, *operations)
        assert race.rule is Rule.CACHED_WRITE_DMA
        assert not race.is_false_sharing


@pytest.mark.parametrize(
    ("first", "second", "races"),
    [
        (K.DMA_READ, K.DMA_READ, False),
        (K.DMA_READ, K.DMA_WRITE, True),
        (K.DMA_WRITE, K.DMA_READ, True),
        (K.DMA_WRITE, K.DMA_WRITE, True),
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_two_engines(mode, first, second, races):
    operations = _word(first, engine=0), _word(second, engine=1)
    assert _rules(mode, *operations) == ["two-engines"] * races
    assert not _races(mode, _word(first, engine=1), _word(second, engine=1))
    assert not _races(mode, operations[0], _SYNC, operations[1])
    # A sync with the other engine orders nothing.
    assert bool(_races(mode, operations[0], Operation(K.SYNC, engine=1), operations[1])) is races


def test_what_the_thesis_misses():
    stale = _word(K.CACHED_READ), _word(K.UNCACHED_WRITE), _word(K.CACHED_READ)
    assert _rules("strict", *stale) == ["stale-read"]
    assert _rules("thesis", *stale) == []
    after_sync = _word(K.CACHED_READ), _word(K.DMA_WRITE), _SYNC, _word(K.CACHED_READ)
    assert _rules("strict", *after_sync) == ["stale-read"]
    assert _rules("thesis", *after_sync) == []
    halves = MemorySystem(line_bytes=4, granule_bytes=2)
    partly = (
        Operation(K.DMA_WRITE, 2, 1), Operation(K.CACHED_WRITE, 0, 1), _SYNC,
        Operation(K.CACHED_READ, 2, 1),
    )  # fmt: skip
    assert _rules("strict", *partly, memory=halves) == ["stale-read"]
    assert _rules("thesis", *partly, memory=halves) == []


def test_flush_before_the_sync_is_not_enough_with_prefetching():
    invalidate = Operation(K.CACHE_INVALIDATE, 0, 4)
    operations = _word(K.DMA_WRITE), invalidate, _SYNC, _word(K.CACHED_READ)
    prefetch = MemorySystem(prefetch=True)
    assert _rules("strict", *operations) == []
    assert _rules("strict", *operations, memory=prefetch) == ["stale-read"]
    good = _word(K.DMA_WRITE), _SYNC, invalidate, _word(K.CACHED_READ)
    assert _rules("strict", *good, memory=prefetch) == []


def test_snooping():
    snooping = MemorySystem(uncached_snoops_cache=True)
    for pair in (_PAIRS["1b"], _PAIRS["2b"]):
        assert _rules("strict", *map(_word, pair), memory=snooping) == []


def test_clear_then_receive_is_one_report_that_does_not_count():
    clear = (
        _word(K.CACHED_WRITE), Operation(K.CACHE_INVALIDATE, 0, 4), _word(K.DMA_WRITE), _SYNC,
        Operation(K.CACHE_INVALIDATE, 0, 4), _word(K.CACHED_READ),
    )  # fmt: skip
    (race,) = races = _races("strict", *clear)
    assert race.rule is Rule.LOST_DATA
    assert race.is_overwritten
    assert not has_races(races)
    (race,) = races = _races("strict", *clear[:2], _word(K.UNCACHED_READ))
    assert not race.is_overwritten
    assert has_races(races)


def test_state_after_a_report_is_as_without_it():
    races = _races("strict", _word(K.CACHED_WRITE), _word(K.DMA_READ), _word(K.DMA_READ))
    assert [(race.rule.value, race.later.number) for race in races] == [("5b", 1), ("5b", 2)]


def test_instances_of_two_places_are_one_race():
    one = Operation(K.CACHED_WRITE, 0, 4, pc=0x40)
    other = Operation(K.DMA_READ, 0, 4, pc=0x44)
    (race,) = _races("strict", *[one, other, _SYNC, Operation(K.CACHE_FLUSH, 0, 4)] * 3)
    assert race.instances == 3


def test_strided_range_is_not_its_hull():
    rows = Operation(K.DMA_WRITE, 0, 4, rows=3, stride=64)
    assert _rules("strict", rows, _word(K.UNCACHED_READ, 32)) == []
    assert _rules("strict", rows, _word(K.UNCACHED_READ, 128)) == ["1c"]
    flush = Operation(K.CACHE_FLUSH, 0, 4, rows=2, stride=64)
    assert _rules("strict", _word(K.CACHED_WRITE, 32), flush, _word(K.DMA_READ, 32)) == ["5b"]


def test_mode_must_be_known():
    with pytest.raises(ValueError, match="Unknown mode 'loose': choose strict or thesis"):
        Noncoherent(_MEMORY, "loose")


_GRAPH_KINDS = (
    K.CACHED_READ, K.CACHED_WRITE, K.UNCACHED_READ, K.UNCACHED_WRITE, K.DMA_READ, K.DMA_WRITE,
    K.SYNC_ALL, K.CACHE_FLUSH,
)  # fmt: skip


def _graph_races(number, detector_type):
    """Races by operation and rule of the graph and of interval sets, on one random trace.

    Ranges stay in a granule: on longer ones a flush of a part un-dangles a whole node.
    """
    generator = random.Random(f"graph-{number}")
    line = generator.choice((2, 4))
    memory = MemorySystem(line_bytes=line, granule_bytes=generator.choice((1, 2)))
    operations = []
    for kind in generator.choices(_GRAPH_KINDS, k=generator.randint(2, 14)):
        granule = generator.randrange(2 * line // memory.granule_bytes) * memory.granule_bytes
        size = generator.randint(1, memory.granule_bytes)
        bytes_ = (0, 0) if kind == K.SYNC_ALL else (granule, size)
        operations.append(Operation(kind, *bytes_))
    detector = detector_type(memory)
    found = {
        (number, finding.rule.value)
        for number, operation in enumerate(operations)
        for finding in detector.step(number, operation)
    }
    return Graph(memory).run(operations), found


def test_interval_sets_report_what_the_graph_reports():
    racy = 0
    for number in range(1500):
        graph, found = _graph_races(number, Thesis)
        assert graph == found, number
        racy += bool(graph)
    assert racy > 500


def test_the_graph_finds_a_planted_bug():
    class WithoutReads(Thesis):
        def _cached_read(self, access):
            return []

    differences = (_graph_races(number, WithoutReads) for number in range(200))
    assert any(graph != found for graph, found in differences), "200 cases do not differ"
