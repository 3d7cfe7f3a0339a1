"""The page's tables of ScoRD's cost in time have the latest kept figures."""

import pytest

from docs.site.history.overhead import TABLES, evaluate_figures
from docs.site.history.results import Result
from docs.site.overhead import overhead_tables, vortex_tables

_NO_ROWS = {name: [] for name in TABLES}


def _kept(date="2026-01-01", size="small", **rows):
    """Results of a run, given the rows of some tables."""
    tables = _NO_ROWS | {name.replace("_", "-"): [row] for name, row in rows.items()}
    found = {"size": size, "events": 7654, "cpu_seconds": 99.4, "events_per_second": 12345,
             "tables": tables}  # fmt: skip
    return [Result(date, "0.1.0", "abc", "racetrap", *each) for each in evaluate_figures(found)]


def _row(program, slowdown):
    return {"program": program, "base design": 2, "ScoRD": slowdown}


def test_the_latest_figure_is_shown():
    kept = [_kept(f"2026-01-0{day}", figure_8=_row("RED", value))
            for day, value in ((1, 1.25), (2, 1.75))]  # fmt: skip
    text = overhead_tables("small", [*kept[0], *kept[1]])
    assert "| RED | 2 | 1.75 |  |" in text
    assert "2026-01-02 (abc)" in text
    assert "| mean |" not in text
    assert "1.25" not in text


def test_the_papers_numbers_are_beside():
    text = overhead_tables("paper", _kept(size="paper", figure_8=_row("1DC", 1.5)))
    assert "| 1DC | 2 | 1.5 | 1.88 |" in text
    assert "`racetrap` had 7,654 events, and took 99 seconds of CPU time" in text
    assert "Replays take 12,345 events in a second" in text
    assert "<svg" not in text


def test_a_figure_of_the_paper_is_plotted():
    text = overhead_tables("small", _kept(execution=_row("1DC", 1.5)))
    assert text.count("<svg") == 1
    assert ">1DC<" in text
    assert ">paper: ScoRD<" in text


def test_the_papers_numbers_are_not_kept():
    kept = _kept(figure_8={"program": "RED", "paper: ScoRD": 1.5})
    assert [each.value for each in kept] == [7654, 99.4, 12345]


def test_a_table_has_the_latest_row_of_each_program_and_their_mean():
    kept = [
        *_kept("2026-01-01", figure_8=_row("RED", 1.25)),
        *_kept("2026-01-02", figure_8=_row("MM", 1.5)), *_kept(figure_8=_row("mean", 9)),
    ]  # fmt: skip
    text = overhead_tables("small", kept)
    for line in ("| RED | 2 | 1.25 |  |", "| MM | 2 | 1.5 |  |", "| mean | 2 | 1.375 | 1.35 |"):
        assert line in text
    assert "`racetrap`, 2026-01-01 (abc); `racetrap`, 2026-01-02 (abc)" in text


def test_statements_are_of_executions_only_if_these_are_of_all():
    kept = [*_kept(figure_8=_row("RED", 1.25)), *_kept(figure_8=_row("MM", 1.5)),
            *_kept(execution=_row("MM", 9))]  # fmt: skip
    assert "| 1.375 | yes |" in overhead_tables("small", kept)


@pytest.mark.parametrize(("slowdown", "holds"), [(1.5, "yes"), (1.7, "no")])
def test_statements_follow_from_what_is_kept(slowdown, holds):
    kept = _kept(execution=_row("1DC", slowdown), figure_8=_row("1DC", 9))
    line = f"| mean slowdown 1.35 (here 1.2 to 1.6) | {slowdown:.3f} | {holds} |"
    assert line in overhead_tables("small", kept)


def test_tables_of_vortex_are_apart():
    kept = _kept(size="tiny", vortex={"program": "MM", "Vortex, latency 20": 1.25})
    assert "| MM | 1.25 |" in vortex_tables(kept)
    assert "MM" not in overhead_tables("tiny", kept)


def test_without_figures_the_page_says_so():
    assert overhead_tables("paper", []) == vortex_tables([]) == "No figure is kept yet.\n"
