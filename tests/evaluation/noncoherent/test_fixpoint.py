"""All states of the tiniest machines, and a planted bug in the rules."""

from dataclasses import replace

import pytest

from racetrap.evaluation.noncoherent import fixpoint
from racetrap.evaluation.noncoherent.fixpoint import TINY_MACHINES, reach_fixpoint
from racetrap.sim.accelerator.compiled.detector import run_compiled

#: Those of one byte: a second each.
_ONE_BYTE = [machine for machine in TINY_MACHINES if machine.bytes == 1]


@pytest.mark.parametrize("machine", _ONE_BYTE)
def test_rules_are_those_of_the_machine(machine):
    found = reach_fixpoint(machine)
    assert found.missed == found.added == 0
    assert found.racy > 50
    assert found.steps > found.states > 20


def test_planted_bug(monkeypatch):
    def without_stale_bytes(detector, operations):
        return run_compiled(replace(detector, mode="thesis"), operations)

    monkeypatch.setattr(fixpoint, "run_compiled", without_stale_bytes)
    assert reach_fixpoint(_ONE_BYTE[0]).missed > 0


def test_machines_are_different_ones():
    assert len(set(TINY_MACHINES)) == len(TINY_MACHINES) == 9
