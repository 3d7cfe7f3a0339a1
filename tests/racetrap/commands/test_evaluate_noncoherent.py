"""`racetrap evaluate noncoherent`: tables, page, JSON and exit status."""

import json

import pytest

from racetrap.evaluation.noncoherent import tables
from racetrap.evaluation.noncoherent.monitor_cycles import ProgramCycles
from racetrap.evaluation.noncoherent.monitor_quality import MonitorQuality
from tests.support.pages.evaluation_page import Inventory


def test_one_program(racetrap, tmp_path):
    page, file = tmp_path / "page.html", tmp_path / "result.json"
    result = racetrap(
        "--jobs", 1, "evaluate", "noncoherent", "crypto", "--schedules", 30, "--budget", 100,
        "--output", page, "--json", file,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    for text in ("Published traces and races", "crypto", "stale-read", "random traces 100"):
        assert text in result.stdout
    data = json.loads(file.read_text())
    assert data["problems"] == []
    assert {case["omission"] for case in data["cases"]} >= {"nothing", "flush", "peek"}
    (strict, _) = data["tables"]["random-traces"]
    assert (strict["traces"], strict["same"]) == (100, 100)
    assert "figure-5.1" not in data["tables"]
    found = Inventory(page.read_text())
    assert not found.fetched
    assert "Published traces and races" in page.read_text()


def test_a_problem_fails(racetrap, monkeypatch):
    monkeypatch.setattr(tables, "rules_of", lambda trace, mode, memory=None: ("5b",))
    result = racetrap(
        "--jobs", 1, "evaluate", "noncoherent", "crypto", "--schedules", 1, "--budget", 0
    )
    assert result.exit_code == 3
    assert result.stderr.startswith("racetrap: Trace Figure 4.3 must give no race in mode thesis")


def test_bus_monitor(racetrap, tmp_path):
    file = tmp_path / "result.json"
    result = racetrap(
        "--jobs", 1, "evaluate", "noncoherent", "crypto", "--schedules", 1, "--budget", 40,
        "--also", "monitor", "--json", file,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    four, eight, random = json.loads(file.read_text())["tables"]["monitor"]
    assert (four["entries"], eight["entries"], random["entries"]) == (4, 8, "2 to 8")
    assert random["merges"] > eight["merges"] == eight["imprecise"] == 0
    for one in (four, eight, random):
        assert one["lost"] == one["falsely definite"] == 0 < one["races"]


@pytest.mark.campaign
def test_generated_monitor(racetrap, tmp_path):
    file = tmp_path / "result.json"
    result = racetrap(
        "--jobs", 1, "evaluate", "noncoherent", "crypto", "--schedules", 1, "--budget", 0,
        "--also", "cycles", "--json", file,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    (row,) = json.loads(file.read_text())["tables"]["monitor-cycles"]
    assert (row["program"], row["merges"]) == ("crypto", 0)
    assert row["cycles"] >= row["rows"] > 0


def test_hardware_that_differs_is_a_problem():
    wrong = ProgramCycles("crypto", difference="Step 3 must be 1, not 2")
    (problem,) = tables.problems(tables.Evaluation(cycles=[wrong]))
    assert problem == "crypto: Step 3 must be 1, not 2"


def test_a_monitor_that_loses_a_race_is_a_problem():
    wrong = MonitorQuality(lost=["trace 1-2, operation 3, rule 1b"])
    (problem,) = tables.problems(tables.Evaluation(monitors={"crypto": {4: wrong}}))
    assert problem == "Bus monitor must report trace 1-2, operation 3, rule 1b"
    wrong = MonitorQuality(falsely_definite=["trace 1-2, operation 3, rule 1b"])
    (problem,) = tables.problems(tables.Evaluation(random_monitor=wrong))
    assert problem.startswith("Bus monitor must not report as definite trace 1-2")
