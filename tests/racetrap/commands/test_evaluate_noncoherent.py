"""`racetrap evaluate noncoherent`: tables, page, JSON and exit status."""

import json

from racetrap.evaluation.noncoherent import tables
from tests.support.pages.evaluation_page import Inventory


def test_one_program(racetrap, tmp_path):
    page, file = tmp_path / "page.html", tmp_path / "result.json"
    result = racetrap(
        "evaluate", "noncoherent", "--program", "crypto", "--timings", 30, "--traces", 100,
        "--jobs", 1, "--html", page, "--json", file,
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
        "evaluate", "noncoherent", "--program", "crypto", "--timings", 1, "--traces", 0, "--jobs", 1
    )
    assert result.exit_code == 3
    assert result.stderr.startswith("racetrap: Trace Figure 4.3 must give no race in mode thesis")


def test_bus_monitor(racetrap, tmp_path, monkeypatch):
    file = tmp_path / "result.json"
    arguments = (
        "evaluate", "noncoherent", "--program", "eth_descriptors", "--timings", 1, "--traces", 40,
        "--monitor", "--jobs", 1, "--json", file,
    )  # fmt: skip
    assert racetrap(*arguments).exit_code == 0
    four, eight, random = json.loads(file.read_text())["tables"]["monitor"]
    assert (four["entries"], eight["entries"], random["entries"]) == (4, 8, "2 to 8")
    assert four["merges"] > eight["merges"] == eight["possible"] == 0
    assert all(one["lost"] == one["falsely definite"] == 0 < one["races"]
               for one in (four, eight, random))  # fmt: skip
    monkeypatch.setattr("racetrap.golden_model.noncoherent.monitor.Monitor._make_stale",
                        lambda self, row: None)  # fmt: skip
    result = racetrap(*arguments)
    assert result.exit_code == 3
    assert "Bus monitor must report" in result.stderr
