"""The exact detector on our recordings and the compiler's own detector come to equal verdicts."""

import pytest

from racetrap.sim.cpu.programs.catalogue import PROGRAMS
from racetrap.sim.cpu.programs.small_programs import SMALL_PROGRAMS
from racetrap.sim.cpu.verdicts import ProgramVerdict, program_verdict, small_verdicts


@pytest.fixture(scope="module")
def small():
    return {verdict.name: verdict for verdict in small_verdicts(runs=2)}


def test_all_small_programs_are_judged(small):
    assert list(small) == list(SMALL_PROGRAMS)
    assert len(small) >= 12


def test_small_programs_have_their_verdicts_and_equal_lines(small):
    assert [verdict for verdict in small.values() if not verdict.agrees] == []
    # Nothing is forgotten in programs of a few accesses.
    assert [verdict for verdict in small.values() if verdict.exact != verdict.sanitizer] == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_have_their_verdicts_and_all_races_are_marked(name):
    verdict = program_verdict(name, "tiny", 4)
    assert verdict.agrees, verdict
    assert verdict.only_sanitizer == frozenset()
    marked = PROGRAMS[name].marked_lines
    for pair in verdict.exact | verdict.sanitizer:
        assert marked.intersection(pair), pair


def _verdict(expected, exact, sanitizer):
    return ProgramVerdict("p", (), 1, expected, frozenset(exact), frozenset(sanitizer))


def test_difference_is_seen():
    pair, other = ("a.c:1", "a.c:2"), ("a.c:3", "a.c:4")
    assert _verdict(True, [pair], [other]).agrees
    assert _verdict(False, [], []).agrees
    assert not _verdict(True, [pair], []).agrees
    assert not _verdict(True, [], [pair]).agrees
    assert not _verdict(False, [pair], [pair]).agrees
    assert not _verdict(True, [], []).agrees
    mixed = _verdict(True, [pair], [other])
    assert (mixed.only_exact, mixed.only_sanitizer) == ({pair}, {other})
    assert mixed.to_json()["exact"] == [pair]
