"""Long work: rows as they come, what is kept, what stops it and what is left then."""

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from racetrap.commands.shared import long_work, options
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.evaluation import kept_results
from racetrap.evaluation.kept_results import KeptResults, result_key
from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.failure import Failure
from tests.support.long_work import answer, stop_after

_ROWS = {"one": [1, 2], "two": [3], "three": [4, 5]}
_TABLE = {"one": [10, 20], "two": [30], "three": [40, 50]}


class Calls:
    """Makes a result of a number, and remembers of which; some are a failure."""

    def __init__(self, fails=()):
        self.items, self.fails, self.__qualname__ = [], fails, "calls"

    def __call__(self, item):
        self.items.append(item)
        if item in self.fails:
            raise Failure(f"Lamp {item} went out")
        return 10 * item


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Runs work in this process; gives its JSON, with the table, and the result of the command."""

    def _run(calls, rows=_ROWS, **measure):
        answer(monkeypatch)

        @click.command("cost")
        @options.result
        def command(json_file):
            work = LongWork(1)
            measured = Measure(calls, lambda *found: f"sum {sum(found)}", **measure)
            table = work.rows("Adding", measured, rows)
            work.finish(lambda console: console.print("Table"), {"table": table}, json_file)

        file = tmp_path / "result.json"
        done = CliRunner().invoke(command, ["--json", str(file)])
        return json.loads(file.read_text()), done

    return _run


@pytest.fixture(autouse=True)
def documents():
    """What is written here has no schema."""


def test_every_row_is_printed_when_it_is_there(run):
    found, done = run(Calls())
    assert found == {"complete": True, "missing": [], "kept": 0, "table": _TABLE}
    assert done.output.splitlines() == ["one: sum 30", "two: sum 30", "three: sum 90", "Table"]


def test_kept_rows_are_not_made_again(run):
    run(Calls())
    calls = Calls()
    found, done = run(calls)
    assert calls.items == []
    assert found == {"complete": True, "missing": [], "kept": 3, "table": _TABLE}
    assert done.output.splitlines() == ["Adding: 3 of 3 rows kept from before", "Table"]


@pytest.mark.parametrize(
    ("stop", "status"), [(KeyboardInterrupt(), KeyboardInterrupt), (SystemExit(143), 143)]
)
def test_a_stop_leaves_what_is_there_and_the_next_call_goes_on(run, monkeypatch, stop, status):
    calls = Calls()
    with monkeypatch.context() as patch:
        stop_after(patch, 2, stop)
        found, done = run(calls)
    assert found == {
        "complete": False, "missing": ["three"], "kept": 0, "table": {"one": [10, 20], "two": [30]}
    }  # fmt: skip
    assert "Incomplete: 1 of 3 rows missing (three); the same command continues from there." in (
        done.output
    )
    assert done.exit_code == (status if isinstance(status, int) else 1)
    again = Calls()
    found, _ = run(again)
    assert found == {"complete": True, "missing": [], "kept": 2, "table": _TABLE}
    assert calls.items + again.items == [1, 2, 3, 4, 5]


def test_a_failure_leaves_what_is_there(run):
    found, done = run(Calls(fails=[4]))
    assert (found["complete"], found["missing"]) == (False, ["three"])
    assert str(done.exception) == "Lamp 4 went out"


def test_a_sentence_names_the_first_of_many_missing_rows(run):
    rows = {f"row {number}": [number] for number in range(8)}
    found, done = run(Calls(fails=[1]), rows)
    assert found["missing"] == list(rows)[1:]
    assert "7 of 8 rows missing (row 1; row 2; row 3; row 4; row 5 and 2 more);" in done.output


def test_half_a_row_is_kept_and_not_shown(run):
    found, _ = run(Calls(fails=[2]))
    assert found["table"] == {}
    again = Calls()
    assert run(again)[0]["table"] == _TABLE
    assert again.items == [2, 3, 4, 5]


@pytest.mark.parametrize("changed", ["sources", "tools"])
def test_rows_of_other_sources_or_tools_are_made_again(run, monkeypatch, changed):
    run(Calls())
    monkeypatch.setattr(kept_results, changed, lambda: "other")
    calls = Calls()
    assert run(calls)[0]["kept"] == 0
    assert calls.items == [1, 2, 3, 4, 5]


def test_rows_of_other_items_are_made(run):
    run(Calls())
    calls = Calls()
    assert run(calls, {"one": [1, 2], "two": [6]})[0]["table"] == {"one": [10, 20], "two": [60]}
    assert calls.items == [6]


def test_what_is_not_worth_keeping_is_made_again(run):
    run(Calls(), keeps=lambda result: result != 30)
    calls = Calls()
    run(calls)
    assert calls.items == [3]


def test_what_has_no_key_is_made_again(run):
    run(Calls(), key=lambda function, item: "")
    calls = Calls()
    run(calls, key=lambda function, item: "")
    assert calls.items == [1, 2, 3, 4, 5]


def test_a_timing_is_kept_until_all_rows_are_there(run):
    run(Calls(fails=[4]), is_timing=True)
    found, _ = run(Calls(), is_timing=True)
    assert (found["kept"], found["table"]) == (2, _TABLE)
    assert run(Calls(), is_timing=True)[0]["kept"] == 0


class _Numbers:
    def __iter__(self):
        return count(1)


def test_a_row_without_end_stops_when_there_is_enough(run):
    def is_enough(found):
        return sum(found) >= 60

    calls = Calls()
    found, _ = run(calls, {"one": _Numbers()}, is_enough=is_enough)
    assert (found["table"], calls.items) == ({"one": [10, 20, 30]}, [1, 2, 3])
    calls = Calls()
    found, _ = run(calls, {"one": _Numbers()}, is_enough=lambda found: sum(found) >= 90)
    assert (found["table"], calls.items) == ({"one": [10, 20, 30, 40]}, [4])
    assert run(Calls(), {"one": _Numbers()}, is_enough=is_enough)[0]["kept"] == 1


def test_a_row_without_end_is_the_same_however_soon_its_items_come(monkeypatch):
    """The first waits for the others."""
    others = threading.Barrier(2)

    def make(item):
        if item == 1:
            others.wait()
        return item

    def keeps(result):
        if result == 3:
            others.wait()
        return False

    monkeypatch.setattr(long_work, "processes", ThreadPoolExecutor)
    said = []
    measure = Measure(
        make,
        lambda *found: str(said.append(found)),
        keeps=keeps,
        is_enough=lambda found: sum(found) >= 3,
    )
    assert LongWork(3).rows("Adding", measure, {"one": _Numbers()}) == {"one": [1, 2]}
    assert said == [(1, 2)]


def test_work_goes_on_where_nothing_can_be_kept(run, monkeypatch):
    def save(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(KeptResults, "save", save)
    found, done = run(Calls())
    assert found["table"] == _TABLE
    assert done.stderr.count("Rows are not kept for another call: [Errno 28] No space left") == 1


@pytest.mark.parametrize("content", [b"", b"\x80\x04", b"N.", b"(X\x01\x00\x00\x00kK\x01t."])
def test_a_spoilt_file_is_made_again(run, tmp_path, content):
    run(Calls())
    folder = long_work.cache_folder() / "rows"
    (folder / f"{result_key(Calls(), 3)}.pickle").write_bytes(content)
    calls = Calls()
    assert run(calls)[0]["table"] == _TABLE
    assert calls.items == [3]


def test_a_file_is_whole_or_not_there(tmp_path, monkeypatch):
    kept = KeptResults(tmp_path)
    kept.save("k", 1)
    monkeypatch.setattr("pathlib.Path.replace", lambda self, target: None)
    kept.save("k", 2)
    assert kept.load("k") == (1,)


def test_the_key_follows_from_everything():
    function, other = Calls(), Calls()
    other.__qualname__ = "other"
    items = [
        1, "1", [1], {"a": 1}, {"a": 2}, Path("a"), frozenset({"a", "b"}),
        FastModel("scord", None, Path("a"), {}), FastModel("scord", None, Path("b"), {}),
    ]  # fmt: skip
    keys = [result_key(function, item) for item in items]
    assert len({*keys, result_key(other, 1)}) == len(items) + 1
    assert keys == [result_key(Calls(), item) for item in items]


def test_the_key_is_the_same_when_more_is_known_of_an_item():
    params = ScordParams()
    before = result_key(abs, params)
    assert params.step_layout
    assert result_key(abs, params) == before


def test_the_key_is_the_same_in_every_process():
    code = (
        "from racetrap.evaluation.kept_results import result_key; "
        "print(result_key(abs, frozenset({'a', 'b', 'c', 'd'})))"
    )
    keys = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, check=True,
            stdout=subprocess.PIPE, text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(keys) == 1
