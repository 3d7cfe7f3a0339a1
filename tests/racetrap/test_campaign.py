"""`racetrap campaign`: tables, JSON, exit status and the line that reruns a case."""

import json
from pathlib import Path

import pytest

from racetrap.commands import campaign
from racetrap.sim.build_cache import BuildError
from racetrap.sim.fast.build import FastModel
from racetrap.sim.fast.cases import Case
from racetrap.sim.fast.scord.campaign import CaseResult
from racetrap.sim.fast.scord.suite import SuiteResult


def test_volume(racetrap, tmp_path):
    file = tmp_path / "result.json"
    result = racetrap("campaign", "--preset", "scord-tiny", "--accesses", 2000, "--json", file)
    assert result.exit_code == 0
    summary = json.loads(file.read_text())
    (row,) = summary["presets"]
    assert row["preset"] == "scord-tiny"
    assert row["accesses"] >= 2000
    assert row["differences"] == 0
    assert row["races"] > 0
    assert summary["coverage"]["access.unmonitored"] > 0
    assert "functional coverage bins hit" in result.output


def test_random_configurations(racetrap, monkeypatch):
    monkeypatch.setattr(
        campaign, "build_fast", lambda name, params: FastModel(name, params, Path(), {})
    )

    def volume(models, *_):
        return [[CaseResult(Case(model, 1, 0), 10, 1, 20, 1.0, "", None)] for model in models]

    monkeypatch.setattr(campaign, "_volume", volume)
    result = racetrap("campaign", "--configurations", 3, "--json", "-")
    assert result.exit_code == 0
    names = [row["preset"] for row in json.loads(result.stdout)["presets"]]
    assert names == ["random-1", "random-2", "random-3"]
    assert racetrap("campaign", "--configurations", 3, "--preset", "scord").exit_code == 2


def test_one_case_is_the_same_as_in_the_campaign(racetrap):
    options = ("campaign", "--preset", "scord-tiny", "--case", 1, "--seed", 5, "--json", "-")
    one, again = (json.loads(racetrap(*options).stdout)["presets"][0] for _ in range(2))
    del one["accesses_per_second"], again["accesses_per_second"]
    assert one == again
    assert one["cases"] == 1


def test_difference(racetrap, monkeypatch):
    def differ(case, observer):
        return CaseResult(case, 10, 1, 20, 1.0, "Bank 0, step 3: something", None)

    monkeypatch.setattr(campaign, "run_case", differ)
    result = racetrap("campaign", "--preset", "scord-tiny", "--case", 4, "--seed", 9)
    assert result.exit_code == 3
    assert "scord-tiny, case 4: Bank 0, step 3: something" in result.output
    assert "rerun: racetrap campaign --preset scord-tiny --seed 9 --case 4" in result.output


def _suite(monkeypatch, right):
    results = [SuiteResult("race_x", True, 4, right, 100, 1.0, "")]
    monkeypatch.setattr(campaign, "_suite", lambda *_: results)
    monkeypatch.setattr(
        campaign, "build_fast", lambda name, params: FastModel(name, params, Path(), {})
    )


@pytest.mark.parametrize(("right", "status"), [(4, 0), (3, 3)])
def test_suite(racetrap, monkeypatch, right, status):
    _suite(monkeypatch, right)
    result = racetrap("campaign", "--suite", "scor-micro")
    assert result.exit_code == status
    assert "race_x" in result.output
    assert "ScoR micro-benchmarks on scord" in result.output


def test_suite_on_the_hardware(racetrap):
    options = ("--suite", "scor-micro", "--preset", "scord-tiny", "--schedules", 0, "--json", "-")
    result = racetrap("campaign", *options)
    assert result.exit_code == 0
    suite = json.loads(result.stdout)["suite"]
    assert len(suite) == 32
    assert all(row["runs"] == row["right"] == 6 for row in suite)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--preset", "scord-huge"), "Preset must be one of"),
        (("--case", "3"), "Option --case must come with --preset"),
        (("--accesses", "0"), "0 is not in the range"),
        (("--suite", "other"), "is not 'scor-micro'"),
    ],
)
def test_bad_options(racetrap, options, sentence):
    result = racetrap("campaign", *options)
    assert result.exit_code == 2
    assert sentence in result.output


def test_missing_tool(racetrap, monkeypatch):
    monkeypatch.setattr(campaign, "missing_tools", lambda: ["Command `c++` was not found: get it."])
    result = racetrap("campaign", "--preset", "scord-tiny")
    assert result.exit_code == 3
    assert result.stderr == "racetrap: Command `c++` was not found: get it.\n"


def test_failed_build(racetrap, monkeypatch):
    def fail(name, params):
        raise BuildError("Command verilator failed")

    monkeypatch.setattr(campaign, "build_fast", fail)
    result = racetrap("campaign", "--preset", "scord-tiny")
    assert result.exit_code == 3
    assert "Command verilator failed" in result.stderr
