"""All states of the tiniest machines, and a planted bug in the rules."""

import pytest

from racetrap.evaluation.noncoherent.fixpoint import TINY_MACHINES, reach_fixpoint
from racetrap.golden_model.noncoherent.strict import Strict

#: Those of one byte: a second each.
_ONE_BYTE = [machine for machine in TINY_MACHINES if machine.bytes == 1]


@pytest.mark.parametrize("machine", _ONE_BYTE)
def test_rules_are_those_of_the_machine(machine):
    found = reach_fixpoint(machine)
    assert found.missed == found.added == 0
    assert found.racy > 50
    assert found.steps > found.states > 20


def test_planted_bug(monkeypatch):
    monkeypatch.setattr(Strict, "_make_stale", lambda self, access: None)
    assert reach_fixpoint(_ONE_BYTE[0]).missed > 0


def test_machines_are_different_ones():
    assert len(set(TINY_MACHINES)) == len(TINY_MACHINES) == 9
