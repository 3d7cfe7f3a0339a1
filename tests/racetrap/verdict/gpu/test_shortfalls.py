"""Sentences on what threads do instead of ordering accesses, of constructs that no edit cures."""

import pytest

from racetrap.verdict.gpu.trace_check import TraceCheck
from tests.support.gpu.constructs.cases import GROUPS, run_kernel

_PAIRS = {pair.racy: pair for pairs in GROUPS.values() for pair in pairs}
_ONE_BARRIER = "both must use one barrier, which counts the threads of both"
_BLOCKS = (
    "put a barrier of the grid (`cooperative_groups::this_grid().sync()`) or the end of a launch "
    "between the two accesses, or write to another buffer"
)


@pytest.mark.parametrize(("name", "told"), [
    (
        "flag_of_two_sizes",
        "the store is of 8 bytes, the load is of 4 bytes, and strong accesses of two sizes order "
        "nothing; use one size",
    ),
    (
        "short_plain",
        "no atomic updates an integer of 2 bytes; use one of 4 bytes, or a loop around `atomicCAS`",
    ),
    (
        "half_mask_other_half",
        "lane 16 waits for lanes 16 to 31 (warp.cu:43) after its store, and lane 0 waits for lanes "
        "0 to 15 (warp.cu:43) before its load; one barrier must include both lanes",
    ),
    (
        "arrive_no_sync",
        "warp 0 arrives at barrier 1 (barriers.cu:24) after its store, but warp 1 comes to no "
        f"barrier before its load; {_ONE_BARRIER}",
    ),
    (
        "two_numbers",
        "warp 0 arrives at barrier 3 (barriers.cu:36) after its store, and warp 1 waits at barrier "
        f"4 (barriers.cu:36) before its load; {_ONE_BARRIER}",
    ),
    # In this schedule both wait beyond their accesses.
    (
        "pairs_other_words",
        "warp 1 waits at barrier 1 (barriers.cu:70) before its load, and warp 3 waits at barrier 2 "
        f"(barriers.cu:70) after its store; {_ONE_BARRIER}",
    ),
    (
        "two_locks",
        "thread 0 of block 0 writes a location (locks.cu:168) after its store, but thread 0 of "
        "block 1 reads a location (locks.cu:168) before its load; both must use one location, such "
        "as one lock",
    ),
    (
        "reader_uncounted",
        "thread 0 of block 0 writes a location (locks.cu:93) after its store, but thread 0 of "
        "block 1 never reads it; it must, and with acquire order",
    ),
    ("float_plain", f"the two blocks do not communicate; {_BLOCKS}"),
    (
        "grid_block_sync",
        f"the barrier at helpers.h:87 orders the threads of one block only; {_BLOCKS}",
    ),
    # Nothing is there instead: what is missing says enough.
    ("syncwarp_missing", "the barrier of the warp is missing"),
    ("block_size_only", "the barrier of the block is missing"),
    ("store_relaxed", "the half that releases is missing"),
])  # fmt: skip
def test_what_threads_do_instead(name, told):
    check = TraceCheck()
    check.add(run_kernel(_PAIRS[name], name, "in-order", 1).trace)
    assert check.pairs[0].first.cause.half == told
