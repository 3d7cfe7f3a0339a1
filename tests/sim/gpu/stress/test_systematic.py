"""Systematic search: what it finds, and that runs are left out that go like others alone."""

import pytest

from racetrap.golden_model.ptx_memory_model.litmus import read_litmus
from racetrap.golden_model.ptx_memory_model.operational import Kind
from racetrap.sim.gpu.stress import systematic
from racetrap.sim.gpu.stress.subject import Failure
from racetrap.sim.gpu.stress.systematic import bounded_runs
from tests.support import REPOSITORY
from tests.support.ptx_memory_model.bounded_runs import all_bounded_runs
from tests.support.ptx_memory_model.weak_outcomes import LitmusSubject, bounded_outcomes

LITMUS = REPOSITORY / "docs" / "examples" / "litmus"


def test_systematic_search_finds_it_with_one_deviation(handover):
    runs = list(bounded_runs(handover, "views", 1))
    assert runs[0].deviations == ()
    for run in runs:
        assert len(run.deviations) <= 1
    assert [run.failure for run in runs if run.failure] == [Failure.RESULT]


@pytest.mark.parametrize(
    ("program", "name", "fewer"),
    [("dot_product", "no_acquire", 0.12), ("ticket_lock", "no_release", 0.9)],
)
def test_the_fast_systematic_search_has_the_failures_of_the_plain_one(
    variant, program, name, fewer
):
    subject = variant(program, name)
    plain, fast = (
        [(run.failure, run.sentence) for run in search(subject, "views", 1)]
        for search in (all_bounded_runs, bounded_runs)
    )
    assert set(fast) == set(plain)
    assert len(fast) < len(plain) * fewer


@pytest.mark.parametrize("name", ["LB+acq-rel", "LastBlock+no-fence-before"])
def test_preemptions_that_meet_nothing_alone_are_left_out(name, monkeypatch):
    test = read_litmus(LITMUS / f"{name}.litmus")
    (plain, many), (fast, few) = bounded_outcomes(test, "views", 2)
    assert plain == fast
    assert few <= many
    monkeypatch.setattr(systematic, "_conflict", lambda one, other: False)
    _, (lost, fewer) = bounded_outcomes(test, "views", 2)
    assert lost < plain
    assert fewer < few


def test_late_loads_wait_for_a_write_of_another_thread():
    """The reader's turn comes first, so the write shows up after the load is known."""
    test = read_litmus(LITMUS / "LB+relaxed.litmus")
    late = [
        run for run in bounded_runs(LitmusSubject(test), "views", 2)
        if any(one.kind is Kind.LATE for one in run.deviations)
    ]  # fmt: skip
    assert late
