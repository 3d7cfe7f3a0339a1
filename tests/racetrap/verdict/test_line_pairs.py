"""Races grouped by pair of source lines."""

from collections import Counter
from dataclasses import replace
from itertools import permutations

import pytest

from racetrap.golden_model.barracuda.race import Missing
from racetrap.golden_model.call_stacks import Frame
from racetrap.presenters.line_pairs import stack_text
from racetrap.verdict.baseline import baseline_text
from racetrap.verdict.cause import Cause, Instruction
from racetrap.verdict.line_pairs import LinePairs, place_of
from tests.support.oracle.findings import line_pair, line_race


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


@pytest.mark.parametrize("found", list(permutations(range(3))))
def test_the_race_between_the_threads_that_have_least_in_common_stands_for_all(found):
    missing = [Missing.WARP_BARRIER, Missing.BARRIER, Missing.RELEASE]
    pairs = LinePairs()
    for number in found:
        pairs.add([line_race("a.cu:1", "a.cu:2", cause=Cause(missing[number]))])
        (pair,) = pairs.found.values()
        assert pair.first.cause.missing == missing[max(found[: found.index(number) + 1])]


@pytest.mark.parametrize(("pc", "place"), [(2, "a.cu:2"), (0x40, "pc 0x40")])
def test_place(pc, place):
    assert place_of(pc, {2: "a.cu:2"}) == place


@pytest.mark.parametrize(
    ("is_ordered", "names"), [(True, ["earlier", "later"]), (False, ["one", "other"])]
)
def test_accesses_whose_order_is_not_known_are_not_called_earlier(is_ordered, names):
    race = line_race("a:1", "a:2", is_ordered=is_ordered)
    assert [name for name, _ in race.sides] == names


def test_library_frames_are_folded_not_dropped():
    stack = [Frame(0, "fill", "/usr/include/a.h:9"), Frame(0, "copy", "a.cu:7"), Frame(0, "k", "")]
    pair = line_pair("/usr/include/b.h:3", "a.cu:5")
    chain = ("/usr/include/b.h:3", "/usr/include/a.h:9", "a.cu:7")
    side = replace(pair.first.earlier, stack=stack, chain=chain)
    cause = Cause(Missing.SCOPE, (Instruction("atomic", chain, 8),))
    pair.first = replace(pair.first, earlier=side, cause=cause)
    own = pair.in_own_code.first
    assert (own.earlier.place, own.earlier.innermost) == ("a.cu:7", "/usr/include/b.h:3")
    assert (own.earlier.folded, own.earlier.column) == (2, 0)
    assert [frame.function for frame in own.earlier.stack] == ["k"]
    assert own.later == pair.first.later
    assert own.places == pair.first.places
    assert own.cause.changes[0].chain == ("a.cu:7",)
    assert stack_text(own.earlier) == "2 library frames folded"
    assert stack_text(replace(own.earlier, stack=stack[1:])).startswith(
        "2 library frames folded, in"
    )
    # A baseline names the innermost place.
    assert "/usr/include/b.h" in baseline_text([pair.in_own_code])
