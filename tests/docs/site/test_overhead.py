"""The page's tables of ScoRD's cost in time have the latest kept figures."""

from docs.site.history.overhead import evaluate_figures
from docs.site.history.results import Result
from docs.site.overhead import overhead_tables

_EMPTY = {
    "execution": [],
    "figure-9": [],
    "figure-10": [],
    "figure-11": [],
    "sensitivity": [],
    "models": [],
    "hardware": [],
}


def _kept(value, date):
    row = {"program": "RED", "ScoRD": value, "paper: ScoRD": 1.5}
    found = {"size": "small", "tables": {"figure-8": [row], **_EMPTY}}
    return [Result(date, "0.1.0", "abc", "racetrap", *each) for each in evaluate_figures(found)]


def test_the_latest_figure_is_shown():
    text = overhead_tables("small", [*_kept(1.25, "2026-01-01"), *_kept(1.75, "2026-01-02")])
    assert "| RED | 1.75 |  |" in text
    assert "2026-01-02 (abc)" in text
    assert "1.25" not in text


def test_the_papers_numbers_are_beside():
    row = {"program": "1DC", "ScoRD": 1.5}
    found = {"size": "paper", "tables": {"figure-8": [row], **_EMPTY}}
    kept = [Result("2026-01-01", "0.1.0", "abc", "racetrap", *x) for x in evaluate_figures(found)]
    assert "| 1DC | 1.5 | 1.88 |" in overhead_tables("paper", kept)


def test_figures_are_plotted():
    """A bar of each application and column; none where the paper has no number."""
    text = overhead_tables("small", _kept(1.25, "2026-01-01"))
    assert text.count("<svg") == 0
    row = {"program": "1DC", "ScoRD": 1.5}
    found = {"size": "small", "tables": {"figure-8": [], **_EMPTY, "execution": [row]}}
    kept = [Result("2026-01-01", "0.1.0", "abc", "racetrap", *x) for x in evaluate_figures(found)]
    text = overhead_tables("small", kept)
    assert text.count("<svg") == 1
    assert ">1DC<" in text
    assert ">paper: ScoRD<" in text


def test_the_papers_numbers_are_not_kept():
    assert [(figure, value) for figure, _, value in evaluate_figures(
        {"size": "small", "tables": {"figure-8": [{"program": "RED", "paper: ScoRD": 1.5}],
                                     **_EMPTY}}
    )] == []  # fmt: skip


def test_without_figures_the_page_says_so():
    assert overhead_tables("paper", []) == "No figure is kept yet.\n"
