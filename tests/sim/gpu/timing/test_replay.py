"""The timing model takes the cycles that are computed by hand, and loses nothing."""

from dataclasses import replace

import pytest

from racetrap.golden_model.events import Event, EventKind
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.timing.replay import Replay
from tests.support.gpu.timing_cases import (
    CASES,
    HIT,
    PARAMS,
    block_after_block,
    broken_rules,
    miss,
    random_trace,
    run,
)
from tests.support.oracle.programs import Program
from tests.support.oracle.random_traces import HEADER


@pytest.mark.parametrize("name", CASES)
def test_a_case_takes_what_is_computed_by_hand(name):
    found = CASES[name].run()
    assert {key: getattr(found, key) for key in CASES[name].expected} == CASES[name].expected


def test_a_block_waits_for_its_slot():
    assert run(block_after_block(), PARAMS).cycles == miss(0) + HIT


@pytest.mark.parametrize("seed", range(20))
def test_random_traces_break_no_rule(seed):
    assert not list(broken_rules(random_trace(seed)))


def test_a_run_is_repeatable():
    with Replay(random_trace(7)) as replay:
        first = replay.run(replace(PARAMS, detects=1))
        assert first == replay.run(replace(PARAMS, detects=1))


def test_named_barriers_are_refused():
    place = Event(EventKind.BLOCK_PLACED, warp_count=1, mask=1)
    events = [
        Event(EventKind.KERNEL_BEGIN), place, Event(EventKind.BARRIER_ARRIVE, grid_block=1),
        Event(EventKind.BLOCK_RETIRED), Event(EventKind.KERNEL_END),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="must have only barriers of whole blocks"):
        Replay(Trace.from_events(HEADER, events))


def test_segments_of_another_size_are_refused():
    with Replay(Program().trace) as replay, pytest.raises(ValueError, match=r"2\*\*5 bytes"):
        replay.run(replace(PARAMS, segment_log2=7))
