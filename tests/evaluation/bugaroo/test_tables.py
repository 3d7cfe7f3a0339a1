"""Tables: the paper's figures beside ours, also of what has not run."""

import pytest

from racetrap.evaluation.bugaroo.tables import make_tables
from racetrap.evaluation.bugaroo.verdicts import judge, variant_runs


def _tables(verdicts):
    return {table.name: table.to_json() for table in make_tables(verdicts)}


def test_without_runs_the_papers_figures_are_there():
    tables = _tables([])
    assert not tables["programs"]
    assert [row["paper: fences"] for row in tables["table-2"]] == [
        64, 32, 41, 8192, 10529, 0, 0, 0,
    ]  # fmt: skip
    for row in tables["table-2"]:
        assert row["fences"] is None, row
    assert len(tables["table-4"]) == 12
    for row in tables["table-4"]:
        assert row["our variant"] is None, row
    mean = tables["table-3"][-2]
    assert (mean["paper: overhead %"], round(mean["overhead by its times %"], 2)) == (27.21, 23.04)


@pytest.mark.campaign
def test_runs_are_beside_the_papers_rows():
    tables = _tables([judge(run) for run in variant_runs(("dot_product",), 1)])
    assert {row["variant"] for row in tables["programs"]} >= {"full", "no_acquire"}
    optimal = next(row for row in tables["table-4"] if row["paper: comment"] == "optimal")
    assert optimal["our variant"] == "dot_product_no_acquire"
    assert (optimal["lacks by PTX"], optimal["racy runs"]) == ("acquire", "1 of 1")
    counts = {row["program"]: row["fences"] for row in tables["table-2"]}
    assert (counts["cbe_dot_2_fence"], counts["cbe_dot_1_fence"]) == (6, 3)
    assert counts["ct_octree"] is None
