"""Large traces: what is found, and how much memory that takes."""

import tracemalloc

import numpy as np
import pytest

from racetrap.golden_model.barracuda import Barracuda, ScopedOracle, analysis
from racetrap.golden_model.events import EventKind
from racetrap.golden_model.trace import Trace
from tests.support.oracle.volume import volume_trace

THREADS = 65_536


@pytest.fixture(scope="module")
def trace() -> Trace:
    return volume_trace(60_000, THREADS, lock_rounds=4)


@pytest.mark.parametrize("oracle", [Barracuda(), ScopedOracle()])
def test_no_race_in_little_memory(trace, oracle):
    tracemalloc.start()
    try:
        result = oracle.run(trace)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(result) == 0
    assert result.counts.pairs > 1000
    # Plain clocks would take 32 GiB.
    assert peak < 40 * len(trace.lanes)


@pytest.mark.parametrize("oracle", [Barracuda(), ScopedOracle()])
def test_race_in_many_events(trace, oracle):
    """Without their barriers the warps of a block race in shared memory."""
    keep = np.flatnonzero(trace.events["kind"] != EventKind.BARRIER)
    racy = Trace(trace.header, trace.events[keep], trace.lanes)
    (first, *_) = races = oracle.run(racy)
    assert {race.race_class.value for race in races} == {"intra-block"}
    assert first.first.grid_block == first.second.grid_block


@pytest.mark.parametrize("stretch", [1, 50])
def test_result_does_not_depend_on_stretches(trace, monkeypatch, stretch):
    small = volume_trace(2_000, 2_048, lock_rounds=1)
    keep = np.flatnonzero(small.events["kind"] != EventKind.FENCE)
    racy = Trace(small.header, small.events[keep], small.lanes)
    whole = ScopedOracle().run(racy)
    assert len(whole) > 0
    monkeypatch.setattr(analysis, "_STRETCH", stretch)
    assert ScopedOracle().run(racy).races == whole.races
