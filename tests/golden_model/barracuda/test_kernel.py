"""Blocks and warps of a trace's kernels."""

import pytest

from racetrap.golden_model.barracuda import ScopedOracle
from racetrap.golden_model.barracuda.kernel import kernels_of
from racetrap.golden_model.events import ALL_LANES, Event, EventKind, Lane, Space, lanes_of
from racetrap.golden_model.trace import Trace
from tests.support.oracle.random_traces import HEADER


def _store(warp: int, slot: int, space: Space = Space.GLOBAL) -> Event:
    lanes = (Lane(0, 0x40, 1),)
    return Event(
        EventKind.STORE, 0, slot, warp, pc=8 * slot + warp, size=4, lanes=lanes, space=space
    )


@pytest.fixture
def trace() -> Trace:
    """Two slots, of which one is used twice; the second kernel is empty."""
    return Trace.from_events(
        HEADER,
        [
            Event(EventKind.KERNEL_BEGIN),
            Event(EventKind.BLOCK_PLACED, 0, 1, 2, warp_count=2, grid_block=7, mask=0b11),
            Event(EventKind.BLOCK_PLACED, 0, 0, 0, warp_count=1, grid_block=5),
            _store(3, 1, Space.SHARED),
            _store(0, 0),
            Event(EventKind.BLOCK_RETIRED, 0, 1),
            Event(EventKind.BLOCK_PLACED, 0, 1, 4, warp_count=2, grid_block=9),
            _store(4, 1, Space.SHARED),
            Event(EventKind.BARRIER, 0, 1),
            _store(5, 1, Space.SHARED),
            Event(EventKind.BLOCK_RETIRED, 0, 1),
            Event(EventKind.BLOCK_RETIRED, 0, 0),
            Event(EventKind.KERNEL_END),
            Event(EventKind.KERNEL_BEGIN),
            Event(EventKind.KERNEL_END),
        ],
    )


def test_every_event_has_its_block_and_warp(trace):
    kernel, empty = kernels_of(trace)
    assert kernel.grid_block.tolist() == [7, 5, 9]
    acting = [3, 4, 7, 8, 9]
    assert kernel.block[acting].tolist() == [0, 1, 2, 2, 2]
    assert kernel.warp[acting].tolist() == [1, 2, 3, -1, 4]
    assert kernel.warp_block.tolist() == [0, 0, 1, 2, 2]
    assert kernel.live.tolist() == [ALL_LANES, 0b11, ALL_LANES, ALL_LANES, ALL_LANES]
    assert (kernel.thread(1, 3), kernel.thread(3, 0)) == (35, 0)
    assert (empty.begin, len(empty.live)) == (13, 0)


def test_blocks_of_one_slot_share_no_memory(trace):
    """The same shared address in two blocks, and in one block around its barrier."""
    assert len(ScopedOracle().run(trace)) == 0


def test_trace_without_kernels():
    assert len(ScopedOracle().run(Trace.from_events(HEADER, []))) == 0


def test_lanes_of_a_mask():
    assert lanes_of(0b1010_0001) == (0, 5, 7)
