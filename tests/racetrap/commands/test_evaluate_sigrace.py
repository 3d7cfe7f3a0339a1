"""`racetrap evaluate sigrace`: tables, JSON, page, exit status."""

import json
from dataclasses import replace

import pytest

from racetrap.sim.cpu.errors import RecordError
from tests.support.long_work import answer
from tests.support.sigrace.results import EXISTING, result


def play(monkeypatch, made, asked=None):
    """Programs whose results are as of ``made``; their parts go to ``asked``."""
    parts = {name: getattr(made, name) for name in ("figures", "existing", "verdict")}
    parts["injected"] = None

    def make(part):
        if asked is not None:
            asked.append(part)
        return parts[part.part]

    answer(monkeypatch, make)


def test_one_program(racetrap, tmp_path):
    files = tmp_path / "result.json", tmp_path / "page.html"
    done = racetrap(
        "evaluate", "sigrace", "lu", "--size", "tiny", "--budget", 1, "--seed", 7,
        "--hardware-size", "none", "--jobs", 1, "--json", files[0], "--output", files[1],
    )  # fmt: skip
    assert done.exit_code == 0
    data = json.loads(files[0].read_text())
    assert (data["programs"], data["seed"], data["runs with injected races"]) == (1, 7, 1)
    assert data["problems"] == []
    assert [row["program"] for row in data["tables"]["existing"]] == ["lu", "Total"]
    assert data["tables"]["hardware"] == []
    assert data["verdicts"][0]["agrees"]
    assert data["injected"]["lu"][0]["removed"].startswith("crossing of barrier")
    assert "Fig. 7(a)" in done.output
    assert "table-figure-8" in files[1].read_text()


def test_all_programs_by_default(racetrap, monkeypatch):
    asked = []

    play(monkeypatch, result("fft"), asked)
    done = racetrap("evaluate", "sigrace", "--hardware-size", "none", "--json", "-")
    assert done.exit_code == 0
    assert len({part.program for part in asked}) == 13
    assert sum(part.part == "injected" for part in asked) == 13 * 25
    assert {part.size for part in asked} == {"small"}
    assert json.loads(done.stdout)["programs"] == 13


def test_a_report_that_is_no_race_is_a_failure(racetrap, monkeypatch):
    play(monkeypatch, result("fft", existing=replace(EXISTING, unreal=1)))
    done = racetrap("evaluate", "sigrace", "--hardware-size", "none", "fft")
    assert done.exit_code == 3
    assert "fft: SigRace reports 1 races" in done.stderr


def test_a_program_that_cannot_be_recorded_is_a_failure(racetrap, monkeypatch):
    def fails(*_):
        raise RecordError("Command gcc was not found")

    answer(monkeypatch, fails)
    done = racetrap("evaluate", "sigrace", "--hardware-size", "none")
    assert done.exit_code == 3
    assert done.stderr.strip().endswith("racetrap: Command gcc was not found.")


def test_page_that_cannot_be_written_is_bad_input(racetrap, tmp_path):
    done = racetrap("evaluate", "sigrace", "--output", tmp_path / "missing" / "page.html")
    assert done.exit_code == 2
    assert "must be one that can be written" in done.stderr


@pytest.mark.parametrize("options", [("doom",), ("--budget", -1), ("--seed", -1)])
def test_bad_options(racetrap, options):
    assert racetrap("evaluate", "sigrace", *options).exit_code == 2
