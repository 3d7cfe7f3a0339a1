"""Row of a warp: barriers of its block, and what orders its own lanes."""

from collections import Counter

import pytest

from racetrap.golden_model.causality.entry import Side
from racetrap.golden_model.causality.knowledge import Known
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.warp_row import WarpRow, tile_of
from racetrap.golden_model.events import ALL_LANES

WARP, BLOCK = 3, 1


def row(**settings: int) -> WarpRow:
    return WarpRow(CausalityParams(**settings), Counter())


def side(clock: int, lane: int = 0, warp: int = WARP, block: int = BLOCK, several: int = 0) -> Side:
    return Side(warp, block, clock, lane, several, 15, 0, 0, 0, 0, 0, 2)


def orders(made: WarpRow, earlier: Side, lanes: int = 1 << 1) -> bool:
    return not made.unordered(earlier, WARP, BLOCK, lanes)


def test_lane_comes_behind_itself_and_behind_nobody_known():
    made = row()
    assert orders(made, side(5), 1)
    assert not orders(made, side(5), 1 | 2)
    assert orders(made, side(5, several=1), 2)


def test_barrier_orders_its_block_and_no_older_one_in_the_slot():
    made = row()
    made.start, made.bar = 4, 6
    assert orders(made, side(6, warp=4))
    assert not orders(made, side(7, warp=4))
    assert not orders(made, side(3, warp=4))
    assert not orders(made, side(5, warp=4, block=2))


def test_older_block_of_the_warps_slot_is_ordered_up_to_own():
    made = row()
    made.start, made.own = 4, 2
    assert orders(made, side(2), 1)
    assert not orders(made, side(3), 1)


def test_knowledge_orders_other_warps_and_own_lanes():
    made = row()
    made.know.put(Known(9, 4, 8))
    made.know.put(Known(WARP, BLOCK, 2))
    assert orders(made, side(8, warp=9, block=4))
    assert not orders(made, side(9, warp=9, block=4))
    assert orders(made, side(2))
    assert not orders(made, side(3))


# Branches in lockstep -------------------------------------------------------------------


def test_lockstep_orders_all_but_the_other_side_of_a_branch():
    made = row(independent_threads=False)
    assert orders(made, side(9))
    made.begin_branch(0b01, 5)
    made.swap_branch()
    # Lane 0 is on the other side.
    assert orders(made, side(4, lane=0))
    assert not orders(made, side(5, lane=0))
    assert orders(made, side(5, lane=2), 0b10)
    made.end_branch()
    assert orders(made, side(5, lane=0))


@pytest.mark.parametrize("levels", [0, 1, 2, 3])
def test_outermost_level_without_the_earlier_lane_decides(levels):
    made = row(independent_threads=False, levels=levels)
    made.begin_branch(0b0111, 5)
    made.begin_branch(0b0011, 7)
    made.begin_branch(0b0001, 9)
    assert len(made.levels) == levels
    # What is deeper than the levels that are kept is taken as ordered.
    assert orders(made, side(5, lane=3), 1) == (levels < 1)
    assert orders(made, side(7, lane=2), 1) == (levels < 2)
    assert orders(made, side(6, lane=2), 1)
    assert orders(made, side(9, lane=1), 1) == (levels < 3)


def test_branch_beyond_the_levels_leaves_those_that_are_kept():
    made = row(independent_threads=False, levels=1)
    made.begin_branch(0b01, 5)
    kept = list(made.levels)
    made.begin_branch(0b01, 6)
    made.swap_branch()
    made.end_branch()
    assert (made.levels, made.depth) == (kept, 1)
    made.swap_branch()
    assert made.levels[0].active & 1 == 0
    made.end_branch()
    made.end_branch()
    assert (made.levels, made.depth) == ([], 0)


# Barriers of a warp -----------------------------------------------------------------------


def test_barrier_of_all_lanes_orders_all_before():
    made = row()
    made.warp_barrier(0b11, 3)
    made.warp_barrier(ALL_LANES, 6)
    assert (made.lanes_before, made.records) == (6, [])
    assert orders(made, side(5))
    assert not orders(made, side(6))


def test_barrier_in_lockstep_changes_nothing():
    made = row(independent_threads=False)
    made.warp_barrier(0b11, 3)
    made.warp_barrier(ALL_LANES, 6)
    assert (made.lanes_before, made.records) == (1, [])


def test_barrier_of_some_lanes_orders_them_alone():
    made = row()
    made.warp_barrier(0b0111, 6)
    assert orders(made, side(5, lane=0), 0b110)
    assert not orders(made, side(5, lane=0), 0b1110)
    assert not orders(made, side(5, lane=3), 0b1)
    assert not orders(made, side(6, lane=0), 0b10)


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_tiles_of_one_size_are_one_record(size):
    made = row()
    tile = (1 << size) - 1
    made.warp_barrier(tile, 5)
    made.warp_barrier(tile << size, 6)
    assert made.records == [(tile | tile << size, 6, size)]
    # Lanes of a tile are ordered, those of two tiles are not.
    assert orders(made, side(4, lane=0), tile)
    assert orders(made, side(4, lane=size), 1 << 2 * size - 1)
    assert not orders(made, side(4, lane=0), 1 << size)
    assert tile_of(size, size) == tile << size


@pytest.mark.parametrize("lanes", [0b110, 0b101, 0b111])
def test_lanes_that_are_no_tile_have_a_record_without_one(lanes):
    made = row()
    made.warp_barrier(lanes, 5)
    assert made.records == [(lanes, 5, 0)]


def test_lanes_that_meet_again_hand_on_what_they_have_learnt():
    made = row()
    made.warp_barrier(0b0011, 5)
    made.warp_barrier(0b1110, 8)
    # Lane 3 has met lane 1, which had met lane 0 before clock 5.
    assert orders(made, side(4, lane=0), 0b1000)
    assert not orders(made, side(5, lane=0), 0b1000)
    assert orders(made, side(7, lane=1), 0b1000)


@pytest.mark.parametrize("records", [0, 1, 2, 3])
def test_record_that_does_not_fit_orders_all_lanes_before_it(records):
    made = row(records=records)
    for place in range(records):
        made.warp_barrier(0b101 << 4 * place, 5 + place)
    assert (len(made.records), made.lanes_before) == (records, 1)
    made.warp_barrier(0b101 << 28, 9)
    assert (len(made.records), made.lanes_before) == (records, 5 if records else 9)
