"""HiRace in the commands: one trace through each of them, and what JSON says of it."""

import json

import pytest

from racetrap.sim.gpu.suites.concurrency.cases import CASES
from racetrap.sim.gpu.suites.concurrency.runner import capture


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
    document = _json(racetrap, "check", "--detector", "hirace", trace, status=1)
    detector = document["detector"]
    assert detector["preset"] == "hirace"
    assert detector["missed"] == detector["shared_accesses"] == 0
    assert detector["not_confirmed"] == []
    ((finding,),) = (each["pairs"] for each in document["findings"])
    assert finding["outcomes"] == {"reported": 1}


def test_check_by_the_detector_alone(racetrap, trace):
    document = _json(
        racetrap,
        "check",
        "--detector",
        "hirace",
        "--oracle",
        "none",
        "--limit",
        "all",
        trace,
        status=1,
    )
    assert {race["kind"] for race in document["races"]} == {"read-after-write", "write-after-read"}
    assert {race["state"] for race in document["races"]} == {"WRITE", "READ"}
    assert document["counters"]["accesses"] > 0


_LARGE = ("--set", "warps_per_sm=32", "--set", "blocks_per_sm=8", "--set", "sm_count=15")


@pytest.mark.parametrize(
    ("file", "settings"),
    [("racy", ()), pytest.param("trace", _LARGE, marks=pytest.mark.campaign)],
)
def test_simulation_finds_the_races_of_the_golden_model(racetrap, request, file, settings):
    arguments = ("hirace-tiny", *settings, "--limit", "all", request.getfixturevalue(file))
    checked = _json(racetrap, "check", "--detector", *arguments, "--oracle", "none", status=1)
    simulated = _json(racetrap, "simulate", *arguments, status=1)
    assert checked["races"]
    assert simulated["races"] == checked["races"]
    assert simulated["steps"] == checked["counters"]["accesses"]


def test_suite_of_another_detector_is_refused(racetrap):
    result = racetrap("simulate", "hirace-tiny", "scor-micro")
    assert result.exit_code == 2
    assert "take one of scord" in result.output


def test_a_board_without_metadata_on_the_chip_is_refused(racetrap, tmp_path):
    result = racetrap("fpga", "build", "hirace", "--board", "ulx3s-85f", "-o", str(tmp_path / "b"))
    assert result.exit_code == 2
    assert "local_bytes must be positive on a board" in result.output
