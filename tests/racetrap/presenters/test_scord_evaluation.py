"""The page of the evaluation: complete, self-contained, readable on a desk and on a phone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from racetrap.evaluation.scord.paper import FALSE_RACES, RACES
from racetrap.evaluation.scord.programs import Build, Schedule
from racetrap.evaluation.scord.runs import BuildRun, RunResult
from racetrap.evaluation.scord.tables import Tables, make_tables
from racetrap.golden_model.scord.packets import RaceKind
from racetrap.presenters.scord_evaluation import page_of, tables_of
from racetrap.verdict.scord.detect import DETECTORS
from racetrap.verdict.scord.missed import Cause
from tests.support.pages.browser import NEEDS_BROWSER
from tests.support.pages.devtools import Browser
from tests.support.pages.evaluation_page import Inventory, assert_shown_whole

RACE = (0x1040, int(RaceKind.SCOPED_ATOMIC))


@pytest.fixture(scope="module")
def tables() -> Tables:
    results = []
    for row in RACES:
        name = "race_interblock_blkatom" if row == "Microbenchmarks" else row
        switches = frozenset() if row == "Microbenchmarks" else frozenset({"broken <lock>"})
        racy = BuildRun(Build(row, name, switches), "tiny", Schedule(0, 1), 1, {}, "cached")
        results.append(
            RunResult(racy, oracle={(0x1040, 0x1048, "unordered")},
                      detectors={"base": {RACE}, "cached": {RACE}},
                      outcomes=Counter({Cause.REPORTED: 1}))
        )  # fmt: skip
        if row in FALSE_RACES:
            free = BuildRun(Build(row, row), "tiny", Schedule(0, 1), 1, {}, "cached")
            found = {detector: set() for detector in DETECTORS} | {"byte8": {RACE}}
            results.append(RunResult(free, detectors=found))
    return make_tables(results)


@pytest.fixture(scope="module")
def page(tables: Tables) -> str:
    return page_of(tables, {"seed": 1, "size": "tiny"}, "racetrap evaluate scord --seed 1")


def test_every_table_and_plot_is_there(page: str, tables: Tables) -> None:
    seen = Inventory(page)
    for name in ("races", "false-races", "builds"):
        assert seen.ids[f"table-{name}"] == "table"
    assert {"plot-races", "plot-false-races"} <= set(seen.ids)
    assert page.count("<svg") == 2
    # A row of headings each.
    assert seen.rows["table-races"] == len(tables.races) + 1
    assert seen.rows["table-false-races"] == len(tables.false_races) + 1
    assert seen.rows["table-builds"] == len(tables.builds) + 1
    assert [table.name for table in tables_of(tables)] == ["races", "false-races", "builds"]


def test_nothing_is_fetched(page: str) -> None:
    assert not Inventory(page).fetched


def test_names_are_escaped(page: str) -> None:
    assert "broken &lt;lock&gt;" in page
    assert "broken <lock>" not in page


def test_same_figures_make_the_same_page(page: str, tables: Tables) -> None:
    again = page_of(tables, {"seed": 1, "size": "tiny"}, "racetrap evaluate scord --seed 1")
    assert again == page


@NEEDS_BROWSER
@pytest.mark.parametrize("width", [390, 1400], ids=["phone", "desk"])
def test_browser_shows_it_whole(page: str, tmp_path: Path, chromium: Browser, width: int) -> None:
    assert_shown_whole(chromium, page, tmp_path, width, elements=5)
