"""History of the results."""

import csv
import json
import re
import subprocess

import pytest

from docs.site.history import results as history
from docs.site.history.results import RESULTS, Result, add, read_results, revision_of
from tests.support.pages.measured import BENCH, COST, DETECTION


def test_rows_are_added_to_those_before(tmp_path):
    path = tmp_path / "results.csv"
    first = add(["cost", "scord", "--block", "a b"], COST, "abc", path)
    again = add(["bench"], BENCH, "abd", path)
    alone = add(["detection", "random runs"], DETECTION, "abc", path)
    assert read_results(path) == [*first, *again, *alone]
    assert first[0].command == "racetrap cost scord --block 'a b'"
    assert alone[0].command == "python -m tests.detection 'random runs'"
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


@pytest.mark.parametrize(
    ("command", "module"),
    [(("cost", "scord"), ["racetrap", "cost", "scord"]),
     (("detection", "concurrency"), ["tests.detection", "concurrency"])],
)  # fmt: skip
def test_a_command_is_run_and_kept(monkeypatch, capsys, command, module):
    runs = []

    def run(words, check):
        runs.append(words[1:-1])
        with open(words[-1], "w") as file:
            json.dump(COST, file)
        return subprocess.CompletedProcess(words, 0)

    monkeypatch.setattr(history, "revision_of", lambda path: "abc")
    monkeypatch.setattr(history.subprocess, "run", run)
    row = Result("2026-01-01", "1", "abc", "racetrap cost", "LUTs", "LUT", 2400)
    monkeypatch.setattr(
        history, "add", lambda command, found, revision: [row] if found == COST else []
    )
    history.main(*command)
    assert runs == [["-m", *module, "--json"]]
    assert capsys.readouterr().out == "LUTs: 2400 LUT\n"


@pytest.mark.parametrize(
    ("end", "sentence"),
    [(3, "the command ended with status 3, not 0."),
     (KeyboardInterrupt, "interrupted; the same command continues from there.")],
)  # fmt: skip
def test_a_command_without_its_figures_is_one_sentence(monkeypatch, end, sentence):
    def run(words, check):
        if end is KeyboardInterrupt:
            raise end
        return subprocess.CompletedProcess(words, end)

    monkeypatch.setattr(history, "revision_of", lambda path: "abc")
    monkeypatch.setattr(history.subprocess, "run", run)
    with pytest.raises(SystemExit) as stop:
        history.main("bench")
    assert stop.value.code == f"No figure was added: {sentence}"


def test_rows_in_the_tree_are_whole_and_in_order():
    results = read_results()
    assert results
    assert [row.date for row in results] == sorted(row.date for row in results)
    for row in results:
        assert row.command.startswith(("racetrap ", "python -m tests.detection "))
        assert row.unit
    with RESULTS.open(newline="") as file:
        assert next(csv.reader(file)) == list(Result.__dataclass_fields__)
