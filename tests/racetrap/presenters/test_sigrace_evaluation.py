"""The page of the evaluation: complete, self-contained, readable on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from racetrap.evaluation.sigrace.runs import ProgramResult
from racetrap.evaluation.sigrace.tables import make_tables
from racetrap.evaluation.table import Table
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.presenters.sigrace_evaluation import page_of
from tests.support.pages.browser import NEEDS_BROWSER
from tests.support.pages.devtools import Browser
from tests.support.pages.evaluation_page import Inventory, assert_shown_whole
from tests.support.sigrace.results import HARDWARE, result

PLOTS = (
    "figure-7a", "figure-7b", "figure-8", "figure-9a", "figure-9d", "policies", "messages",
    "figure-10c", "figure-10d",
)  # fmt: skip


@pytest.fixture(scope="module")
def results() -> list[ProgramResult]:
    broken = HARDWARE.__class__(0, 0, 0, 0, 0, "step 7 is <other>")
    lines = replace(result().figures.lines, checkpoints=1)
    return [
        result("fft"),
        result("barnes", hardware=broken),
        result("kvstore", injected=(), figures=replace(result().figures, lines=lines)),
    ]


@pytest.fixture(scope="module")
def tables(results: Sequence[ProgramResult]) -> list[Table]:
    return make_tables(results, SigraceParams())


def make_page(results: Sequence[ProgramResult], tables: Sequence[Table]) -> str:
    facts = {"seed": 1, "size": "tiny"}
    return page_of(results, tables, facts, "racetrap evaluate sigrace")


@pytest.fixture(scope="module")
def page(results: Sequence[ProgramResult], tables: Sequence[Table]) -> str:
    return make_page(results, tables)


def test_every_table_and_plot_is_there(page: str, tables: Sequence[Table]) -> None:
    seen = Inventory(page)
    for table in tables:
        assert seen.ids[f"table-{table.name}"] == "table"
        assert seen.rows[f"table-{table.name}"] == len(table.rows) + 1
    assert {f"plot-{name}" for name in PLOTS} <= set(seen.ids)
    assert page.count("<svg") == len(PLOTS)


def test_nothing_is_fetched(page: str) -> None:
    assert not Inventory(page).fetched


def test_names_are_escaped(page: str) -> None:
    # In the table, and among the problems.
    assert page.count("step 7 is &lt;other&gt;") == 2
    assert "step 7 is <" not in page


def test_same_figures_make_the_same_page(
    page: str, results: Sequence[ProgramResult], tables: Sequence[Table]
) -> None:
    assert make_page(results, tables) == page


def test_programs_without_checkpoints_have_no_plot_of_them() -> None:
    alone = [result("fft")]
    seen = Inventory(page_of(alone, make_tables(alone, SigraceParams()), {}, ""))
    assert [name for name in PLOTS if f"plot-{name}" not in seen.ids] == list(PLOTS[-2:])


def test_hardware_that_did_not_run(results: Sequence[ProgramResult]) -> None:
    without = [result("fft", hardware=None)]
    page = page_of(without, make_tables(without, SigraceParams()), {}, "")
    assert "table-hardware" not in Inventory(page).ids
    assert "<p>Not run.</p>" in page


@NEEDS_BROWSER
@pytest.mark.parametrize("width", [390, 1400], ids=["phone", "desk"])
def test_browser_shows_it_whole(
    page: str, tables: Sequence[Table], tmp_path: Path, chromium: Browser, width: int
) -> None:
    assert_shown_whole(chromium, page, tmp_path, width, elements=len(tables) + len(PLOTS))
