"""Causality in the commands: one trace through each of them, and what JSON says of it."""

import json
from dataclasses import asdict, replace

import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.trace import Trace
from racetrap.golden_model.trace.files import read_gpu_trace
from racetrap.sim.gpu.suites.concurrency.cases import CASES
from racetrap.sim.gpu.suites.concurrency.runner import capture
from tests.support.causality.plans import TWO_BANKS
from tests.support.oracle.programs import Program


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "exchange.trace"
    capture(CASES["shared_exchange_nothing"], "random", 1).write_binary(path)
    return str(path)


def _json(racetrap, *arguments, status):
    result = racetrap(*arguments, "--json", "-")
    assert result.exit_code == status, result.output
    return json.loads(result.stdout)


def test_check_says_what_it_made_of_the_oracles_races(racetrap, trace):
    document = _json(racetrap, "check", "--detector", "causality", trace, status=1)
    detector = document["detector"]
    assert detector["preset"] == "causality"
    assert detector["missed"] == detector["shared_accesses"] == 0
    assert detector["not_confirmed"] == []
    ((finding,),) = (each["pairs"] for each in document["findings"])
    assert finding["outcomes"] == {"reported": 1}


def test_check_by_the_detector_alone(racetrap, trace):
    arguments = ("check", "--detector", "causality", "--oracle", "none", "--limit", "all", trace)
    document = _json(racetrap, *arguments, status=1)
    assert {race["kind"] for race in document["races"]} == {"missing-barrier"}
    assert document["counters"]["accesses"] > 0


@pytest.mark.parametrize("independent", [0, 1])
def test_lanes_are_independent_if_they_were_in_the_trace(racetrap, tmp_path, independent):
    """Without a branch, in lockstep the second access comes behind the first."""
    program = Program()
    program.weak_store((0, 0), 0x80, lanes=1)
    program.weak_load((0, 0), 0x80, lanes=2)
    trace, path = program.trace, tmp_path / "lanes.trace"
    header = replace(trace.header, independent_threads=independent)
    Trace.from_events(header, list(trace)).write_binary(path)
    arguments = ("check", "--detector", "causality", "--oracle", "none", str(path))
    document = _json(racetrap, *arguments, status=independent)
    assert [race["kind"] for race in document["races"]] == ["missing-warp-barrier"] * independent


def _settings_of_the_co_simulation():
    """Options for the configuration whose model other tests have built."""
    plain = asdict(find_preset("causality-tiny").params)
    changed = [(name, value) for name, value in asdict(TWO_BANKS).items() if value != plain[name]]
    return [word for name, value in changed for word in ("--set", f"{name}={value}")]


def test_simulation_finds_the_races_of_the_golden_model(racetrap, racy, tmp_path):
    trace, path = read_gpu_trace(racy), tmp_path / "lanes.trace"
    header = replace(trace.header, independent_threads=1)  # as in that configuration
    Trace.from_events(header, list(trace)).write_binary(path)
    arguments = ("causality-tiny", *_settings_of_the_co_simulation(), "--limit", "all", path)
    checked = _json(racetrap, "check", "--detector", *arguments, "--oracle", "none", status=1)
    simulated = _json(racetrap, "simulate", *arguments, status=1)
    assert checked["races"]
    assert simulated["races"] == checked["races"]


def test_suite_of_another_detector_is_refused(racetrap):
    result = racetrap("simulate", "causality-tiny", "scor-micro")
    assert result.exit_code == 2
    assert "take one of scord" in result.output
