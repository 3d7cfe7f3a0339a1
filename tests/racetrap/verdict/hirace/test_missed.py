"""What becomes of the oracle's races that HiRace does not report, and of reports without a race."""

from dataclasses import replace

import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.events import MemoryOrder, Scope, Space
from racetrap.sim.gpu.oracle import JUDGE, run_oracle
from racetrap.verdict.gpu.oracle import NOT_CHECKED, REPORTED, oracle_races
from racetrap.verdict.gpu.trace_check import Detector, TraceCheck
from racetrap.verdict.hirace.findings import find_races
from racetrap.verdict.hirace.missed import Cause, outcomes
from tests.support.gpu.constructs.cases import GROUPS, run_kernel
from tests.support.oracle.programs import Program

_PARAMS = find_preset("hirace").params
_WORD = 0x80


def _outcomes(trace, params=_PARAMS, independent=False):
    """Outcome of each race, by the program counters of both accesses."""
    races = run_oracle(trace, JUDGE, independent).races
    found = outcomes(trace, params, races)
    return {
        (race.first.pc, race.second.pc): outcome for race, outcome in zip(races, found, strict=True)
    }


def test_race_behind_one_that_was_reported_is_handed_over():
    """The word begins anew with the block that races, whose own barrier then orders it."""
    program = Program()
    first = program.weak_store((0, 0), _WORD)
    second = program.weak_store((1, 0), _WORD)
    program.barrier(1)
    third = program.weak_load((1, 1), _WORD)
    found = _outcomes(program.trace)
    assert found[first, second] == REPORTED
    assert found[first, third] == Cause.HANDED_OVER


def test_barrier_of_some_lanes_counts_for_the_whole_warp():
    pair = next(
        pair for pairs in GROUPS.values() for pair in pairs if pair.racy == "half_mask_other_half"
    )
    trace = run_kernel(pair, pair.racy, "in-order", 1).trace
    assert {*_outcomes(trace, independent=True).values()} == {Cause.BARRIER_SEEN}


def test_word_outside_the_window_is_not_checked():
    program = Program()
    program.weak_store((0, 0), 0x100, space=Space.SHARED)
    program.weak_load((0, 1), 0x100, space=Space.SHARED)
    trace = program.trace
    assert {*_outcomes(trace).values()} == {REPORTED}
    small = replace(_PARAMS, shared_bytes=256)
    assert {*_outcomes(trace, small).values()} == {NOT_CHECKED["shared"]}


def test_race_between_blocks_is_reported():
    program = Program()
    program.weak_store((0, 0), _WORD)
    program.weak_store((1, 0), _WORD)
    trace = program.trace
    reports = {
        finding.report.key: {finding.earlier.pc} for finding in find_races(trace, _PARAMS)[1]
    }
    assert [each.outcome for each in oracle_races(trace, _PARAMS, reports, JUDGE)] == [REPORTED]


@pytest.mark.parametrize("ordered_by", ["fence", "order", "nothing"])
def test_reports_are_imposed_only_where_something_else_may_order(ordered_by):
    """HiRace knows neither fences nor accesses that name an order; a race is a race."""
    program, flag = Program(), 0x100
    if ordered_by == "order":
        program.store((0, 0), flag, order=MemoryOrder.RELAXED)
        program.load((1, 0), flag, order=MemoryOrder.RELAXED)
    else:
        program.weak_store((0, 0), _WORD)
    if ordered_by == "fence":
        program.fence((0, 0), Scope.DEVICE)
        program.atomic((0, 0), flag)
        program.atomic((1, 0), flag)
        program.fence((1, 0), Scope.DEVICE)
    if ordered_by != "order":
        program.weak_load((1, 0), _WORD)
    check = TraceCheck(detector=Detector("hirace", _PARAMS))
    check.add(program.trace)
    (run,) = check.detector_runs
    assert run.unique
    assert run.unconfirmed == []
    assert bool(run.imposed) == (ordered_by != "nothing")
    assert bool(run.outcomes) == (ordered_by == "nothing")
