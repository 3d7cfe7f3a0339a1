"""Verdicts of the oracle on recordings, and of the compiler's own detector, are equal."""

from itertools import groupby
from operator import attrgetter

import pytest

from racetrap.sim.cpu.programs.catalogue import PROGRAMS
from racetrap.sim.cpu.programs.small_programs import SMALL_PROGRAMS
from racetrap.sim.cpu.recorder import record
from racetrap.sim.cpu.thread_sanitizer import SanitizedProgram
from racetrap.sim.cpu.verdicts import ProgramVerdict, program_verdict, race_lines


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    verdicts = {}
    for source, cases in groupby(SMALL_PROGRAMS.values(), attrgetter("source")):
        program = SanitizedProgram([source], tmp_path_factory.mktemp(source.stem))
        for name, _, is_racy in cases:
            trace = record([source], [name]).trace
            found = program.races([name], runs=2)
            exact = race_lines(trace)
            verdicts[name] = ProgramVerdict(name, (name,), len(trace.events), is_racy, exact, found)
    return verdicts


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
    assert verdict.sanitizer <= verdict.exact
    marked = PROGRAMS[name].benign_lines
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
    assert mixed.to_json()["sanitizer"] == [other]
    assert mixed.to_json()["exact"] == [pair]
