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


def test_planted_bug_of_write_through(monkeypatch):
    """The rules of a write-back cache, called on the machine without dirty lines."""

    def with_dirty_lines(detector, operations):
        memory = replace(detector.memory, write_through=False)
        return run_compiled(replace(detector, memory=memory), operations)

    monkeypatch.setattr(fixpoint, "run_compiled", with_dirty_lines)
    (machine,) = (one for one in _ONE_BYTE if one.memory.write_through)
    assert reach_fixpoint(machine).added > 0


def test_machines_are_different_ones():
    assert len(set(TINY_MACHINES)) == len(TINY_MACHINES) == 12
