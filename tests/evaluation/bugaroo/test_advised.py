"""Advice beside what authors have."""

import pytest

from racetrap.evaluation.bugaroo.advised import AdviceRun, advice_runs, advice_table, advise
from racetrap.evaluation.bugaroo.workload_subject import WorkloadSubject
from racetrap.golden_model.ptx_memory_model.operational import InOrder


def advised(program, variant, runs=20):
    found = advise(AdviceRun(program, variant, runs, 1))
    return found.verdict, [change.what for change in found.advice.changes]


@pytest.mark.parametrize(
    ("program", "variant", "changes"),
    [
        ("ticket_lock", "no_acquire", ["fence.acq_rel.gpu"]),
        ("publication", "ordered_block", ["ld.acquire.gpu", "st.release.gpu"]),
    ],
)
def test_what_is_missing_stands_where_the_author_has_it(program, variant, changes):
    assert advised(program, variant) == ("as the author", changes)


def test_orders_of_accesses_do_the_same():
    (change,) = advise(AdviceRun("publication", "no_acquire", 20, 1)).advice.instead
    assert (change.action, change.what) == ("order", "ld.acquire.gpu")


def test_a_fence_added_on_purpose_is_named_alone():
    assert advised("publication", "full", 8) == ("the added fence alone", ["fence.sc.gpu"])


def test_a_fence_that_views_do_not_need_but_the_oracle_does_is_not_named():
    assert advised("lamport_queue", "full", 4)[0] == "the added fence alone"


def test_rows():
    runs = advice_runs(["kmeans", "RED"], 3, 1)
    assert [run.variant for run in runs] == ["original", "no-flag-fence", "block-scope-fence"]
    assert len(advice_runs([], 3, 1)) > 100
    table = advice_table([advise(AdviceRun("stream_clustering", "original", 1, 1))])
    assert table.rows[0][:3] == ("stream_clustering", "original", "nothing")
    assert table.rows[0][6] == "the added fence alone"


def test_an_application_on_weak_memory():
    subject = WorkloadSubject("MM", ["no-acquire-fence"])
    assert subject.run("views", InOrder()).failure is None
