"""Races grouped by pair of source lines."""

from collections import Counter

import pytest

from racetrap.evaluation.scord.line_pairs import LinePairs, place_of
from racetrap.golden_model.barracuda import Party, Race, RaceClass, RaceKind
from racetrap.golden_model.events import EventKind, Space

_PLACES = {1: "a.cu:1", 2: "a.cu:2", 3: "a.cu:2"}


def _race(first, second, kind=RaceKind.UNORDERED, race_class=RaceClass.INTER_BLOCK, **counts):
    parties = (Party(0, 0, pc, EventKind.STORE, 0) for pc in (first, second))
    return Race(kind, race_class, Space.GLOBAL, 0x100, *parties, **counts)


def test_program_counters_of_one_line_are_one_finding():
    pairs = LinePairs()
    pairs.add(0, [_race(1, 2, instances=5, block_pairs=2), _race(3, 1, instances=7)], _PLACES)
    (pair,) = pairs.found.values()
    assert (pair.earlier, pair.later) == ("a.cu:1", "a.cu:2")
    assert (pair.instances, pair.block_pairs) == (12, 3)


def test_kinds_classes_and_schedules_are_counted():
    pairs = LinePairs()
    other = _race(1, 1, RaceKind.SAME_INSTRUCTION, RaceClass.DIVERGENCE, instances=3)
    pairs.add(0, [_race(1, 1, instances=2), other], _PLACES)
    pairs.add(2, [_race(1, 1)], _PLACES)
    (pair,) = pairs.found.values()
    assert pair.kinds == Counter({RaceKind.UNORDERED: 3, RaceKind.SAME_INSTRUCTION: 3})
    assert pair.classes == Counter({RaceClass.INTER_BLOCK: 3, RaceClass.DIVERGENCE: 3})
    assert pair.schedules == {0, 2}


def test_different_lines_are_different_findings():
    pairs = LinePairs()
    pairs.add(0, [_race(1, 1), _race(1, 2), _race(2, 9)], _PLACES)
    assert len(pairs.found) == 3


@pytest.mark.parametrize(("pc", "place"), [(2, "a.cu:2"), (0x40, "pc 0x40")])
def test_place(pc, place):
    assert place_of(pc, _PLACES) == place
