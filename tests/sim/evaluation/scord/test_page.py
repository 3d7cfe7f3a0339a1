"""The page of the evaluation: complete, self-contained, readable on a desk and on a phone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from racetrap.golden_model.scord.packets import RaceKind
from racetrap.sim.evaluation.scord.detect import DETECTORS
from racetrap.sim.evaluation.scord.missed import Cause
from racetrap.sim.evaluation.scord.page import html_page
from racetrap.sim.evaluation.scord.paper import FALSE_RACES, RACES
from racetrap.sim.evaluation.scord.programs import Build, Schedule
from racetrap.sim.evaluation.scord.runs import Job, RunResult
from racetrap.sim.evaluation.scord.tables import Tables, make_tables

RACE = (0x1040, int(RaceKind.SCOPED_ATOMIC))
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
#: Reports, in the title, what a reader would notice: a page wider than its window, plots and
#: tables without extent, and text too small to read.
PROBE = """<script>
const shown = [...document.querySelectorAll("figure svg, table")];
const boxes = shown.map(element => element.getBoundingClientRect());
document.title = JSON.stringify({
  window: innerWidth,
  page: document.documentElement.scrollWidth,
  boxes: boxes.map(b => [Math.round(b.width), Math.round(b.height)]),
  font: parseFloat(getComputedStyle(document.body).fontSize),
});
</script>"""


@pytest.fixture(scope="module")
def tables() -> Tables:
    results = []
    for row in RACES:
        name = "race_interblock_blkatom" if row == "Microbenchmarks" else row
        switches = frozenset() if row == "Microbenchmarks" else frozenset({"broken <lock>"})
        racy = Job(Build(row, name, switches), "tiny", Schedule(0, 1), 1, {}, "cached")
        results.append(
            RunResult(racy, oracle={(0x1040, 0x1048, "unordered")},
                      detectors={"base": {RACE}, "cached": {RACE}},
                      outcomes=Counter({Cause.REPORTED: 1}))
        )  # fmt: skip
        if row in FALSE_RACES:
            free = Job(Build(row, row), "tiny", Schedule(0, 1), 1, {}, "cached")
            found = {detector: set() for detector in DETECTORS} | {"byte8": {RACE}}
            results.append(RunResult(free, detectors=found))
    return make_tables(results)


@pytest.fixture(scope="module")
def page(tables: Tables) -> str:
    return html_page(tables, {"seed": 1, "size": "tiny"}, "racetrap evaluate scor --seed 1")


class Inventory(HTMLParser):
    """Elements by id with their tags, and everything that would be fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: dict[str, str] = {}
        self.fetched: list[str] = []
        self.rows: Counter[str] = Counter()
        self._table = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if identity := values.get("id"):
            self.ids[identity] = tag
            if tag == "table":
                self._table = identity
        if tag == "tr":
            self.rows[self._table] += 1
        for name in ("src", "href", "xlink:href"):
            target = values.get(name)
            if target and not target.startswith("#"):
                self.fetched.append(target)


def test_every_table_and_plot_is_there(page: str, tables: Tables) -> None:
    seen = Inventory()
    seen.feed(page)
    for name in ("races", "false-races", "builds"):
        assert seen.ids[f"table-{name}"] == "table"
    assert {"plot-races", "plot-false-races"} <= set(seen.ids)
    assert page.count("<svg") == 2
    # A row of headings each.
    assert seen.rows["table-races"] == len(tables.races) + 1
    assert seen.rows["table-false-races"] == len(tables.false_races) + 1
    assert seen.rows["table-builds"] == len(tables.builds) + 1


def test_nothing_is_fetched(page: str) -> None:
    seen = Inventory()
    seen.feed(page)
    assert not seen.fetched
    assert "@import" not in page
    # Whatever stands in brackets of url() is a part of the page itself.
    assert all(target.startswith("#") for target in re.findall(r"url\((.*?)\)", page))


def test_names_are_escaped(page: str) -> None:
    assert "broken &lt;lock&gt;" in page
    assert "broken <lock>" not in page


def test_same_figures_make_the_same_page(page: str, tables: Tables) -> None:
    again = html_page(tables, {"seed": 1, "size": "tiny"}, "racetrap evaluate scor --seed 1")
    assert again == page


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("width", [390, 1400], ids=["phone", "desk"])
def test_browser_shows_it_whole(page: str, tmp_path: Path, width: int) -> None:
    file = tmp_path / "page.html"
    file.write_text(page.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    result = subprocess.run(
        [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr",
         f"--window-size={width},900", "--dump-dom", file.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    title = re.search(r"<title>(.*?)</title>", result.stdout)
    assert title is not None
    seen = json.loads(title[1])
    assert seen["page"] <= seen["window"]
    assert seen["font"] >= 14
    assert len(seen["boxes"]) == 5
    assert all(wide > 100 and high > 50 for wide, high in seen["boxes"])
    assert "CONSOLE" not in result.stderr
