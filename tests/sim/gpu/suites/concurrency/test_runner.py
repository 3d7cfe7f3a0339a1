"""Runs of the suite: repeatable, and a planted mistake is found by both oracles and ScoRD."""

import pytest

from racetrap.golden_model.events import EventKind
from racetrap.golden_model.trace.gpu.trace import Trace
from racetrap.sim.gpu.suites.concurrency.cases import CASES, INTER_BLOCK, INTRA_BLOCK, NONE
from racetrap.sim.gpu.suites.concurrency.runner import SCHEDULES, capture
from tests.support.gpu.concurrency import CaseOutcome, analyse


def test_same_seed_gives_the_same_trace():
    case = CASES["ticket_lock_fenced"]
    assert capture(case, "random", 3) == capture(case, "random", 3)


def test_seeds_give_different_schedules():
    case = CASES["ticket_lock_fenced"]
    traces = [capture(case, scheduler, seed) for scheduler, seed in SCHEDULES]
    assert len({trace.events.tobytes() for trace in traces}) > len(traces) // 2


def test_launches_follow_each_other():
    kinds = [event.kind for event in capture(CASES["two_launches"], "in-order", 1)]
    assert kinds.count(EventKind.KERNEL_BEGIN) == kinds.count(EventKind.KERNEL_END) == 2


@pytest.mark.parametrize(
    ("name", "kind", "verdict"),
    [
        ("lock_blocks", EventKind.FENCE, INTER_BLOCK),
        ("lock_warps", EventKind.FENCE, INTRA_BLOCK),
        ("ring_right", EventKind.FENCE, INTER_BLOCK),
        ("global_exchange_barrier", EventKind.BARRIER, INTRA_BLOCK),
    ],
)
def test_trace_without_its_synchronisation_is_racy(name, kind, verdict):
    trace = capture(CASES[name], "round-robin", 1)
    right = analyse(trace)
    assert (right.races, right.scoped, right.scord) == (NONE, NONE, frozenset())
    kept = [event for event in trace if event.kind != kind]
    wrong = analyse(Trace.from_events(trace.header, kept))
    assert wrong.races == wrong.scoped == verdict
    assert wrong.scord


def test_outcomes_add_up():
    one = CaseOutcome(races=INTER_BLOCK, scord=frozenset({"not-strong"}))
    other = CaseOutcome(races=INTRA_BLOCK, scoped=INTRA_BLOCK)
    assert one | other == CaseOutcome(
        races=INTER_BLOCK | INTRA_BLOCK, scoped=INTRA_BLOCK, scord=frozenset({"not-strong"})
    )
