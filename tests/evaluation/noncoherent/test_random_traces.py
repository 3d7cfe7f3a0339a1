"""Campaigns of random traces against the exhaustive machine, and planted differences."""

from dataclasses import replace

import pytest

from racetrap.evaluation.noncoherent import random_traces
from racetrap.evaluation.noncoherent.random_traces import (
    RandomPart,
    merged,
    parts_of,
    random_case,
    run_part,
)
from racetrap.sim.accelerator.compiled.detector import run_compiled


def test_parts_are_all_traces():
    parts = parts_of(7, 2500)
    assert [(part.seed, part.first, part.last) for part in parts] == [
        (7, 0, 999), (7, 1000, 1999), (7, 2000, 2499)
    ]  # fmt: skip
    assert parts_of(7, 0) == []


def test_mode_strict_agrees_and_mode_thesis_does_not():
    result = merged([run_part(RandomPart(1, 0, 99)), run_part(RandomPart(1, 100, 249))])
    strict, thesis = result.modes["strict"], result.modes["thesis"]
    assert result.traces == strict.same == 250
    assert result.racy > 50
    assert result.differing == []
    assert thesis.same + thesis.missed + thesis.added == 250
    assert thesis.missed == sum(thesis.missed_by_rule.values()) > 0
    assert thesis.added == sum(thesis.added_by_class.values()) > 0
    assert "false sharing" in thesis.added_by_class


def test_planted_bug_of_the_rules(monkeypatch):
    def without_stale_bytes(detector, operations):
        return run_compiled(replace(detector, mode="thesis"), operations)

    monkeypatch.setattr(random_traces, "run_compiled", without_stale_bytes)
    result = run_part(RandomPart(1, 0, 249))
    assert result.modes["strict"].missed > 0
    assert result.differing
    # Each number repeats its trace.
    assert random_case(1, result.differing[0]) == random_case(1, result.differing[0])


@pytest.mark.parametrize("seed", [1, 2])
def test_seeds_give_other_traces(seed):
    assert random_case(seed, 0) != random_case(3, 0)
