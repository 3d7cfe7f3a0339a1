"""Known misses with their rates."""

import pytest

from docs.site.history.results import Result, read_results
from docs.site.limits import LIMITS, first_limits, limits_table


def _result(figure, unit, value):
    return Result("2026-01-01", "1", "abc", "racetrap x", figure, unit, value)


def test_the_latest_figure_of_each_name_with_its_share():
    results = [
        _result("suite: races of the oracle, tag conflict", "of 50", 7.0),
        _result("suite: races of the oracle, tag conflict", "of 40", 2.0),
        _result("other: races of the oracle, tag conflict", "of 0", 0.0),
        _result("suite: false races, 8 bytes", "races", 98.0),
    ]
    lines = {line.split(" | ")[0][2:]: line for line in limits_table("scord", results).split("\n")}
    shared = lines["shared entries"]
    assert "suite: races of the oracle, tag conflict: 2 of 40 (5.0%)<br>other: " in shared
    assert "tag conflict: 0 of 0 |" in shared
    assert shared.count("`racetrap x`") == 1
    assert "suite: false races, 8 bytes: 98 races" in lines["granularity"]
    assert "| no rate: " in lines["lock table"]


@pytest.mark.parametrize("detector", LIMITS)
def test_every_limit_has_a_rate_in_the_tree_or_a_reason(detector):
    figures = [result.figure for result in read_results()]
    for limit in LIMITS[detector]:
        if limit.figures:
            assert any(figure.endswith(limit.figures) for figure in figures), limit.name
        else:
            assert limit.remark.startswith("no rate: "), limit.name


def test_every_rate_of_the_first_page_is_in_the_tree():
    """And is one figure; several would not unpack."""
    head, _, *rows = first_limits().strip().split("\n")
    assert head == "| what | measured | date |"
    assert len(rows) == 9
    assert [row for row in rows if "| 20" not in row] == []
