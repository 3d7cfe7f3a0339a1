"""Verdicts of the oracle on recordings, and of the compiler's own detector, are equal."""

import pytest

from racetrap.sim.cpu.programs.catalogue import PROGRAMS
from racetrap.sim.cpu.verdicts import ProgramVerdict, program_verdict


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
