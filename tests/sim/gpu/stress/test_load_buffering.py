"""Load buffering: a load is late though nobody has written its word before."""

from itertools import islice

import pytest

from racetrap.sim.gpu.stress.search import random_runs, shrink
from racetrap.sim.gpu.stress.systematic import bounded_runs
from tests.support.campaign import one_in
from tests.support.gpu.litmus_kernels import RESULTS, X, Y, litmus_subject

RELAXED, VOLATILE, WEAK, ACQUIRE = ".relaxed.gpu", ".volatile", "", ".acquire.gpu"


def thread(number, load=WEAK, store=WEAK, between=(), value="1"):
    """One side: a load, then a store of the other word."""
    own, other = (X, Y) if number == 0 else (Y, X)
    return [
        f"ld{load} %r2, {own}", *between, f"st{store} {other}, {value}",
        f"st {RESULTS[number]}, %r2",
    ]  # fmt: skip


def failing(subject, runs=120):
    return [run for run in islice(random_runs(subject, "views", 1), runs) if run.failure]


@pytest.mark.parametrize("mode", [RELAXED, VOLATILE, WEAK])
@pytest.mark.parametrize(
    ("place", "space"),
    one_in(2, [("block", "global"), ("warp", "global"), ("warp", "shared"), ("lane", "global")]),
)
def test_both_loads_take_what_is_stored_behind_them(tmp_path, mode, place, space):
    sides = [thread(number, mode, mode) for number in range(2)]
    subject = litmus_subject(tmp_path, *sides, place, space)
    found = failing(subject)
    assert found
    (late,) = [
        one for one in shrink(subject, "views", found[0]).deviations if one.kind.value != "turn"
    ]
    assert late.story.endswith("is settled late")
    assert any(run.failure for run in bounded_runs(subject, "views", 1)), "no run fails"
    for run in islice(random_runs(subject, "write-buffers", 1), 30):
        assert not run.failure


def test_a_copy_on_one_side_alone_lets_it_happen(tmp_path):
    subject = litmus_subject(tmp_path, thread(0, value="%r2"), thread(1))
    runs = islice(bounded_runs(subject, "views", 2), 200)
    assert any(run.failure for run in runs), "200 runs do not fail"


@pytest.mark.parametrize(
    "sides",
    [
        {"between": ["fence.sc.gpu"]},
        {"between": ["fence.acq_rel.gpu"], "load": RELAXED, "store": RELAXED},
        {"load": ACQUIRE, "store": ".release.gpu"},
        {"value": "%r2"},  # out of thin air
        {"between": ["add.u32 %r3, %r2, 1", "sub.u32 %r3, %r3, 1"], "value": "%r3"},
    ],
    ids=["fence.sc", "fence", "acquire", "copies", "arithmetic"],
)
def test_what_orders_or_needs_the_load_forbids_it(tmp_path, sides):
    subject = litmus_subject(tmp_path, thread(0, **sides), thread(1, **sides))
    assert not failing(subject, 300)
    for run in islice(bounded_runs(subject, "views", 2), 300):
        assert not run.failure
