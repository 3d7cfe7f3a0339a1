"""Tables of BARRACUDA's evaluation from results that are known."""

import dataclasses

from racetrap.evaluation.barracuda.measure import WAYS
from racetrap.evaluation.barracuda.tables import make_tables, problems_of
from tests.support.gpu.barracuda_results import KERNELS, MEASURED


def test_a_benchmark_stands_beside_the_paper():
    table, figure_9, figure_10 = (each.to_json()[0] for each in make_tables([MEASURED], []))
    assert (table["threads"], table["paper: threads"], table["paper: races"]) == (
        64,
        64,
        "3 global",
    )
    assert [table[key] for key in ("barracuda, global", "scoped", "causality")] == [3, 3, 4]
    assert table["difference"]
    assert (figure_9["before pruning"], figure_9["after pruning"]) == (25.0, 20.0)
    times = [figure_10[f"{way}, times"] for way in WAYS[1:]]
    assert (figure_10["untraced, s"], *times) == (0.5, 2.0, 1.5)


def test_kernels_are_counted_by_their_truth():
    small, wrong = (each.to_json() for each in make_tables([], KERNELS))
    counts = {row["with"]: (row["racy"], row["race-free"]) for row in small}
    assert counts["kernels"] == (2, 1)
    assert counts["a race by causality"] == counts["a witness"] == (2, 0)
    assert counts["a race by barracuda"] == (1, 0)
    assert counts["a race by scoped"] == (2, 1)
    assert {row["kernel"]: row["wrong"] for row in wrong} == {
        "atomics_blocks_block": "barracuda", "weak_data": "scoped",
    }  # fmt: skip


def test_what_is_wrong_is_said():
    assert problems_of([MEASURED], KERNELS) == []
    failed = dataclasses.replace(MEASURED, problems=("ended with status 1",))
    unseen = dataclasses.replace(KERNELS[0], witnesses=())
    false = dataclasses.replace(KERNELS[2], witnesses=("both ready",))
    first, second, third = problems_of([failed], [unseen, false])
    assert first.startswith("Hashtable ")
    assert "branch_write_read is racy" in second
    assert "weak_data is race-free" in third
