"""`racetrap evaluate scord`: tables, JSON, page, exit status."""

import json
import re

import pytest

from racetrap.commands.shared import simulation
from racetrap.commands.shared.detectors import scord
from racetrap.evaluation.scord.paper import RACES
from racetrap.evaluation.scord.programs import Build, Schedule
from racetrap.evaluation.scord.runs import BuildRun, RunResult
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.verdict.scord.hardware import HardwareRun
from tests.support import REPOSITORY
from tests.support.campaign import one_in
from tests.support.long_work import answer

RACE = (0x40, 5)


def test_one_application(racetrap, tmp_path):
    files = tmp_path / "result.json", tmp_path / "page.html"
    result = racetrap(
        "--jobs", 1, "evaluate", "scord", "1DC", "--schedules", 1, "--hardware-schedules", 0,
        "--json", files[0], "--output", files[1],
    )  # fmt: skip
    assert result.exit_code == 0
    summary = json.loads(files[0].read_text())
    row, total = summary["races"]
    assert (row["name"], total["name"]) == ("1DC", "Total")
    assert (row["oracle"], row["base"], row["cached"], row["hardware"]) == (1, 1, 1, None)
    assert row["paper"] == {"present": 1, "base": 1, "cached": 1}
    (false,) = summary["false_races"]
    assert false["counts"]["base"] == false["counts"]["cached"] == 0
    free, racy = summary["builds"]
    assert not free["racy"]
    assert not free["oracle"]
    assert racy["switches"] == ["block-scope-border"]
    assert racy["oracle"][0]["kind"] == "scoped-atomic"
    assert set(racy["outcomes"]) == {"reported"}
    assert "Table VI" in result.output
    assert "table-races" in files[1].read_text()


@pytest.mark.parametrize(("schedules", "caught"), one_in(2, [(1, 1), (3, 2)]))
def test_one_schedule_misses_a_race(racetrap, schedules, caught):
    """The README says so of the total: every other row has all in one schedule."""
    result = racetrap(
        "--jobs", 1, "evaluate", "scord", "R110", "--schedules", schedules,
        "--hardware-schedules", 0, "--json", "-",
    )  # fmt: skip
    row = json.loads(result.stdout)["races"][0]
    assert (row["oracle"], row["base"], row["cached"]) == (2, caught, caught)


def test_the_readme_has_both_columns_of_the_paper():
    """The hardware caches metadata, so the paper's column for it is the one with caching."""
    base = sum(row.base for row in RACES.values())
    cached = sum(row.cached for row in RACES.values())
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^.*Table VI of ScoRD.*$", text, re.MULTILINE)
    papers = re.findall(r"(without|with it|hardware)[^(]*\(paper: (\d+)\)", line)
    assert papers == [("without", str(base)), ("with it", str(cached)), ("hardware", str(cached))]


_RED = ("evaluate", "scord", "RED", "--hardware-schedules", 0, "--schedules", 1)


def run_of(build):
    return BuildRun(build, "tiny", Schedule(0, 1), 1, {}, "cached")


def test_a_race_in_a_race_free_build_is_a_failure(racetrap, monkeypatch):
    detectors = dict.fromkeys(("base", "cached", "byte8", "byte16"), frozenset())
    oracle = {(0x40, 0x48, "unordered")}
    answer(monkeypatch, lambda run: RunResult(run, oracle=oracle, detectors=detectors))
    result = racetrap(*_RED)
    assert result.exit_code == 3
    assert "RED (race-free): the oracle finds a race in 1 runs" in result.stderr


def test_hardware_that_reports_other_races_is_a_failure(racetrap, monkeypatch):
    detectors = {name: {RACE} for name in ("base", "cached", "byte8", "byte16")}

    def differ(run):
        hardware = HardwareRun(set(), 1, 1, 1, 0) if run.build.racy else None
        return RunResult(run, detectors=detectors, hardware=hardware)

    answer(monkeypatch, differ)
    result = racetrap(*_RED)
    assert result.exit_code == 3
    assert "RED (no-flag-fence): hardware and golden model report different races" in result.stderr


def test_page_that_cannot_be_written_is_bad_input(racetrap, tmp_path):
    page = tmp_path / "missing" / "page.html"
    result = racetrap("evaluate", "scord", "--hardware-schedules", 0, "--output", page)
    assert result.exit_code == 2
    assert "must be one that can be written" in result.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--output", "w.vcd"], "not for the suite scor-apps on scord"),
        (["--set", "environment=fixed"], "Unknown setting 'environment'"),
        (["--output", "x.xml"], "Option --output is for "),
        (["--schedules", 0], "Option --schedules must be at least 1 for scor-apps, not 0"),
        (["--set", "sm_count=2"], "Parameter sm_count must be at least the 15"),
    ],
)
def test_applications_suite_refuses(racetrap, options, sentence):
    result = racetrap("simulate", "scord", "scor-apps", *options)
    assert result.exit_code == 2
    assert sentence in result.stderr


@pytest.mark.parametrize(("rtl", "status"), [({RACE}, 0), (set(), 3)])
def test_applications_suite(racetrap, monkeypatch, rtl, status):
    monkeypatch.setattr(
        simulation, "build_fast", lambda name, params: FastModel(name, params, None, {})
    )
    build = Build("RED", "RED", frozenset({"one"}))
    hardware = HardwareRun(rtl, 1, 7, 9, 0)
    run = RunResult(run_of(build), detectors={"golden": {RACE}}, hardware=hardware)
    monkeypatch.setattr(scord, "run_parallel", lambda *_: [run])
    result = racetrap("simulate", "scord", "scor-apps", "--json", "-")
    assert result.exit_code == status
    (build,) = json.loads(result.stdout)["builds"]
    assert (build["expected"], build["steps"], build["rtl"]) == ("race", 7, bool(rtl))
