"""Random runs: legal, repeatable, and of all kinds."""

from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import pytest

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.events import DataRegion, EventKind, Geometry, TraceHeader
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.trace import Trace
from racetrap.sim.cosim.causality.random_events import random_events
from racetrap.sim.cosim.causality.styles import OWN_LINES, STYLES

_TINY = CausalityParams(
    sm_count=2, blocks_per_sm=2, warps_per_sm=4, ratio=4, shared_bytes=256, address_bits=32
)
_SMALLEST = CausalityParams(
    sm_count=1, blocks_per_sm=1, warps_per_sm=1, ratio=1, shared_bytes=0, address_bits=16
)
_REGION = Region(0x2000, 12)


@pytest.mark.parametrize("name", [*STYLES, "lanes-own-lines"])
@pytest.mark.parametrize("params", [_TINY, _SMALLEST], ids=["tiny", "one"])
def test_trace_is_legal(name, params):
    geometry = Geometry(params.sm_count, params.blocks_per_sm, params.warps_per_sm)
    header = TraceHeader(geometry=geometry, region=DataRegion(0x2000, 12), seed=5)
    events = list(random_events(params, _REGION, (STYLES | OWN_LINES)[name], 5, 300))
    assert list(Trace.from_events(header, events)) == events


def test_same_seed_same_run():
    one, same, other = (
        list(random_events(_TINY, _REGION, STYLES["mixed"], seed, 200)) for seed in (1, 1, 2)
    )
    assert one == same != other


def test_every_kind_of_event_of_a_kernel_comes():
    kinds = {event.kind for event in random_events(_TINY, _REGION, STYLES["mixed"], 1, 1500)}
    outside = {
        EventKind.EXIT, EventKind.COPY_READ, EventKind.COPY_WRITE, EventKind.AFTER,
        EventKind.CLUSTER_ARRIVE, EventKind.CLUSTER_WAIT,
    }  # fmt: skip
    assert kinds == set(EventKind) - outside


def test_any_lane_is_the_only_one_of_two_accesses_in_a_row():
    """A bit of a lane mask that is lost must make a difference."""
    only = [
        event.lanes[0].lane
        for event in random_events(_TINY, _REGION, STYLES["messages"], 1, 10_000)
        if len(event.lanes) == 1
    ]
    assert {lane for lane, after in pairwise(only) if lane == after} == set(range(32))


def test_the_next_block_of_a_slot_may_have_other_warps():
    """Only then does it matter which warps the tracker remembers of the block before."""
    taken = defaultdict(set)
    for event in random_events(_TINY, _REGION, STYLES["restarts"], 1, 500):
        if event.kind == EventKind.BLOCK_PLACED:
            taken[event.sm, event.slot].add(event.warp)
    assert taken == {(sm, slot): {0, 2} for sm in range(2) for slot in range(2)}


def test_lanes_access_memory_behind_a_barrier_that_they_pass_alone():
    """A tile that is taken for another must make a difference."""
    found = {
        after.lanes[0].lane
        for before, after in pairwise(random_events(_TINY, _REGION, STYLES["wandering"], 1, 5000))
        if before.kind == EventKind.WARP_BARRIER and before.mask.bit_count() == 1
        if [1 << lane.lane for lane in after.lanes[:1]] == [before.mask]
    }
    assert len(found) > 8


def test_rates_above_1_are_refused():
    style = replace(STYLES["mixed"], fences=0.9, churn=0.5)
    with pytest.raises(ValueError, match="Sum of the rates must be at most 1"):
        next(random_events(_TINY, _REGION, style, 1, 10))


def test_lanes_of_an_access_run():
    """A branch that is open lets some lanes run alone."""
    active: dict[tuple[int, int], list[int]] = {}
    branches = 0
    for event in random_events(_TINY, _REGION, STYLES["lanes"], 2, 800):
        levels = active.setdefault((event.sm, event.warp), [])
        if event.kind == EventKind.IF:
            levels.append(event.mask)
        elif event.kind == EventKind.ELSE:
            levels[-1] = event.mask
        elif event.kind == EventKind.FI:
            levels.pop()
        elif event.kind == EventKind.BLOCK_PLACED:
            active.clear()
        elif event.lanes and levels:
            branches += 1
            assert [lane for lane in event.lanes if not levels[-1] >> lane.lane & 1] == []
    assert branches > 100


def test_accesses_of_own_lines_are_of_one_warp_each():
    lines: dict[int, set[tuple[int, int]]] = {}
    style = replace(OWN_LINES["mixed-own-lines"], locality=1.0, words=0, own=1.0, branches=0.0)
    accesses = [event for event in random_events(_TINY, _REGION, style, 3, 400) if event.lanes]
    for event in accesses:
        first = event.lanes[0].address
        assert [lane.address - first for lane in event.lanes] == [*range(0, 128, 4)]
        lines.setdefault(first, set()).add((event.sm, event.warp))
    assert len(accesses) > 200
    assert {len(warps) for warps in lines.values()} == {1}
    assert len(lines) == 2 * len(set.union(*lines.values()))
