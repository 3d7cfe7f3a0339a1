"""Races grouped by pair of source lines."""

from collections import Counter

import pytest

from racetrap.verdict.line_pairs import LinePairs, place_of
from tests.support.oracle.findings import line_race


def test_races_of_the_same_lines_are_one_finding_in_any_order():
    pairs = LinePairs()
    pairs.add([line_race("a:1", "a:2", 5, block_pairs=2), line_race("a:2", "a:1", 7)])
    (pair,) = pairs.found.values()
    assert (pair.first.earlier.place, pair.first.later.place) == ("a:1", "a:2")
    assert (pair.instances, pair.block_pairs) == (12, 3)


def test_kinds_relations_and_schedules_are_counted():
    pairs = LinePairs()
    other = line_race("a:1", "a:1", 3, kind="same-instruction", relation="divergence")
    pairs.add([line_race("a:1", "a:1", 2), other])
    pairs.add([line_race("a:1", "a:1")], schedule=2)
    (pair,) = pairs.found.values()
    assert pair.kinds == Counter({"unordered": 3, "same-instruction": 3})
    assert pair.relations == Counter({"inter-block": 3, "divergence": 3})
    assert pair.schedules == {0, 2}


def test_different_lines_are_different_findings_the_most_instances_first():
    pairs = LinePairs()
    pairs.add([line_race("a:1", "a:1"), line_race("a:1", "a:2", 9), line_race("a:2", "a:9", 4)])
    assert [pair.instances for pair in pairs.by_instances] == [9, 4, 1]


@pytest.mark.parametrize(("pc", "place"), [(2, "a.cu:2"), (0x40, "pc 0x40")])
def test_place(pc, place):
    assert place_of(pc, {2: "a.cu:2"}) == place


@pytest.mark.parametrize(
    ("is_ordered", "names"), [(True, ["earlier", "later"]), (False, ["one", "other"])]
)
def test_accesses_whose_order_is_not_known_are_not_called_earlier(is_ordered, names):
    race = line_race("a:1", "a:2", is_ordered=is_ordered)
    assert [name for name, _ in race.sides] == names
