"""History of the results."""

import csv
import json
import re
import subprocess

import pytest

from racetrap.evaluation import history
from racetrap.evaluation.history import (
    RESULTS,
    Result,
    add,
    figures_of,
    read_results,
    revision_of,
)

_COST = {
    "tables": [{"preset": "scord", "blocks": [
        {"block": "bank", "costs": {
            "ecp5": {
                "synthesis": {"cells": {"LUT4": 2000, "CCU2C": 200}, "lut": 2400, "ff": 900},
                "fmax_mhz": {"median": 105.5},
            },
            "ice40": {"synthesis": None, "fmax_mhz": None},
        }},
    ]}],
}  # fmt: skip
_BENCH = {
    "tools": {},
    "scord": {
        "speed": {"plain": {"together": {"median": 9e5}}, "compiled": None},
        "accesses_per_cycle": {"streaming": 1.0, "back_to_back": 0.99},
        "banks": {"one": 1.0, "four": 3.9, "ratio": 3.9},
    },
}
_DETECTION = {
    "size": "tiny", "schedules": 8,
    "races": [{"name": "MM"}, {"name": "Total", "builds": 44, "oracle": 44, "base": 43,
                               "cached": 42}],
    "false_races": [{"counts": {"cached": 1}}, {"counts": {"cached": 2}}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("found", "figures"),
    [
        (_COST, [
            ("bank of scord on ecp5: look-up tables", "LUT", 2000),
            ("bank of scord on ecp5: the same with carry chains and LUT RAM", "LUT", 2400),
            ("bank of scord on ecp5: flip-flops", "FF", 900),
            ("bank of scord on ecp5: median Fmax", "MHz", 105.5),
        ]),
        (_BENCH, [
            ("co-simulation of scord, plain golden model", "accesses/s", 9e5),
            ("one bank of scord, streaming", "accesses/cycle", 1.0),
            ("one bank of scord, back to back", "accesses/cycle", 0.99),
            ("four banks of scord", "accesses/cycle", 3.9),
        ]),
        (_DETECTION, [
            ("ScoR suite, size tiny, schedules 8: racy builds found, oracle", "of 44", 44),
            ("ScoR suite, size tiny, schedules 8: racy builds found, an entry a word", "of 44", 43),
            ("ScoR suite, size tiny, schedules 8: racy builds found, cached", "of 44", 42),
            ("ScoR suite, size tiny, schedules 8: false races, cached", "races", 3),
        ]),
    ],
)  # fmt: skip
def test_figures(found, figures):
    assert figures_of(found) == figures


@pytest.mark.parametrize("found", [{"findings": []}, {"tables": []}])
def test_json_without_figures_is_refused(found):
    with pytest.raises(ValueError, match=r"^Command must be bench, cost or evaluate scord, "):
        figures_of(found)


def test_rows_are_added_to_those_before(tmp_path):
    path = tmp_path / "results.csv"
    first = add(["cost", "scord", "--block", "a b"], _COST, "abc", path)
    again = add(["bench"], _BENCH, "abd", path)
    assert read_results(path) == [*first, *again]
    assert first[0].command == "racetrap cost scord --block 'a b'"
    assert (first[0].revision, again[0].revision) == ("abc", "abd")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", first[0].date)


def test_a_changed_tree_is_marked(tmp_path):
    git = ["git", "-C", tmp_path, "-c", "user.name=a", "-c", "user.email=b"]
    (tmp_path / "source").write_text("1")
    for words in (["init", "-q"], ["add", "source"], ["commit", "-q", "-m", "c"]):
        subprocess.run([*git, *words], check=True)
    path = tmp_path / "results.csv"
    assert re.fullmatch(r"[0-9a-f]{9}", revision_of(path))
    (tmp_path / "source").write_text("2")
    assert re.fullmatch(r"[0-9a-f]{9}[+]", revision_of(path))


def test_a_command_is_run_and_kept(monkeypatch, capsys):
    runs = []

    def run(words, check):
        runs.append(words[1:-1])
        with open(words[-1], "w") as file:
            json.dump(_COST, file)

    monkeypatch.setattr(history, "revision_of", lambda path: "abc")
    monkeypatch.setattr(history.subprocess, "run", run)
    row = Result("2026-01-01", "1", "abc", "racetrap cost", "LUTs", "LUT", 2400)
    monkeypatch.setattr(
        history, "add", lambda command, found, revision: [row] if found == _COST else []
    )
    history.main("cost", "scord")
    assert runs == [["-m", "racetrap", "cost", "scord", "--json"]]
    assert capsys.readouterr().out == "LUTs: 2400 LUT\n"


def test_rows_in_the_tree_are_whole_and_in_order():
    results = read_results()
    assert results
    assert [row.date for row in results] == sorted(row.date for row in results)
    assert all(row.command.startswith("racetrap ") and row.unit for row in results)
    with RESULTS.open(newline="") as file:
        assert next(csv.reader(file)) == list(Result.__dataclass_fields__)
