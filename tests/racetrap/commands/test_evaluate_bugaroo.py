"""`racetrap evaluate bugaroo`: verdicts and the paper's tables, as tables and JSON."""

import json

import pytest

from racetrap.calls import evaluate_bugaroo
from racetrap.commands.shared.terminal import ExitStatus


def test_one_program(racetrap):
    result = racetrap(
        "--jobs", 1, "evaluate", "bugaroo", "publication", "--schedules", 1,
        "--budget", 4, "--json", "-",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert (document["schedules"], document["variants"], document["problems"]) == (1, 8, [])
    rows = {row["variant"]: row for row in document["tables"]["programs"]}
    assert (rows["ordered"]["lacks by PTX"], rows["ordered"]["racy"]) == ("nothing", 0)
    assert (rows["no_acquire"]["lacks by PTX"], rows["no_acquire"]["racy"]) == ("acquire", 1)
    assert len(document["tables"]["table-4"]) == 12
    exposed = {row["variant"]: row for row in document["tables"]["exposures"]}
    assert exposed["no_acquire"]["views"] > 0
    assert exposed["no_acquire"]["witness"].startswith("1 + ")
    assert (exposed["full"]["views"], exposed["full"]["p=1"]) == (0, 0)
    assert "Table III" in result.stderr


def test_right_variants_only(racetrap):
    result = racetrap(
        "--jobs", 1, "evaluate", "bugaroo", "scan", "--race-free", "--schedules", 1,
        "--budget", 0, "--json", "-",
    )  # fmt: skip
    rows = json.loads(result.stdout)["tables"]["programs"]
    assert [row["variant"] for row in rows] == ["full", "early_f1"]


def test_what_is_not_as_stated_is_a_failure(racetrap, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(evaluate_bugaroo, "problems", lambda verdicts: ["Result is wrong"])
    result = racetrap(
        "--jobs", 1, "evaluate", "bugaroo", "hotspot", "--schedules", 1, "--budget", 0
    )  # fmt: skip
    assert result.exit_code == ExitStatus.FAILED
    assert "Result is wrong" in result.stderr
