"""Findings of HiRace in traces, and what becomes of the oracle's races."""

from dataclasses import replace

import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.hirace.packets import RaceKind
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.gpu.oracle import JUDGE
from racetrap.sim.gpu.suites.concurrency.cases import CASES
from racetrap.sim.gpu.suites.concurrency.runner import capture
from racetrap.verdict.gpu.fit import check_fit_with_window, region_with_window
from racetrap.verdict.gpu.oracle import NOT_CHECKED, REPORTED, oracle_races
from racetrap.verdict.gpu.trace_check import Detector, TraceCheck
from racetrap.verdict.hirace.findings import find_races
from racetrap.verdict.hirace.hardware import simulate_trace

_PARAMS = find_preset("hirace").params


def _trace(name):
    return capture(CASES[name], "random", 1)


def _found(trace, params=_PARAMS):
    return list(find_races(trace, params)[1])


def test_a_finding_names_both_accesses_and_their_lanes():
    trace = _trace("shared_exchange_nothing")
    findings = _found(trace)
    assert {finding.report.race for finding in findings} == {
        RaceKind.READ_AFTER_WRITE, RaceKind.WRITE_AFTER_READ,
    }  # fmt: skip
    for finding in findings:
        assert finding.earlier.event < finding.access.event
        assert finding.access.pc == finding.report.pc
        assert finding.access.warp != finding.earlier.warp
        assert finding.access.warp == finding.report.warp
        assert finding.earlier.warp == finding.report.owner_warp
        assert f"races with lane {finding.report.owner_lane} of" in finding.sentence()
        assert finding.report.space == "shared"


@pytest.mark.parametrize("name", ["shared_exchange_barrier", "global_exchange_barrier"])
def test_barriers_order(name):
    assert _found(_trace(name)) == []


@pytest.mark.parametrize("name", ["shared_exchange_nothing", "global_exchange_nothing"])
def test_races_of_the_oracle_are_reported(name):
    trace = _trace(name)
    reports = {finding.report.key: {finding.earlier.pc} for finding in _found(trace)}
    races = oracle_races(trace, _PARAMS, reports, JUDGE)
    assert races
    assert {each.outcome for each in races} == {REPORTED}


def test_shared_memory_that_is_not_watched():
    trace = _trace("shared_exchange_nothing")
    params = replace(_PARAMS, shared_bytes=0)
    assert _found(trace, params) == []
    races = oracle_races(trace, params, {}, JUDGE)
    assert {each.outcome for each in races} == {NOT_CHECKED["shared"]}
    check = TraceCheck(detector=Detector("hirace-global", params))
    check.add(trace)
    (run,) = check.detector_runs
    assert run.shared > 0
    assert run.missed == 0


def test_reports_beside_fences_are_imposed():
    check = TraceCheck(detector=Detector("hirace", _PARAMS))
    check.add(_trace("shared_exchange_fence"))
    (run,) = check.detector_runs
    assert run.unique
    assert {*run.unconfirmed} == set()


def test_region_grows_to_the_size_of_the_window():
    trace = _trace("global_exchange_barrier")
    region, wanted = region_with_window(trace, _PARAMS), trace.header.region
    assert region.size_log2 == max(_PARAMS.min_region_log2, wanted.size_log2)
    assert region.contains(wanted.data_base)
    assert region.contains(wanted.data_base + (1 << wanted.size_log2) - 1)


def test_trace_of_a_larger_gpu_is_refused():
    with pytest.raises(ValueError, match=r"^Parameter warps_per_sm must be at least"):
        check_fit_with_window(_trace("global_exchange_barrier"), replace(_PARAMS, warps_per_sm=1))


@pytest.mark.campaign
def test_hardware_finds_what_the_golden_model_finds():
    trace, found = _trace("shared_exchange_nothing"), []
    model = build_fast("hirace", _PARAMS)
    run = simulate_trace(model, trace, 1, found.append)
    assert found == _found(trace)
    assert run.steps >= len(found)
