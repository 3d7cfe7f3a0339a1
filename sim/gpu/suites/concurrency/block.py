"""Verdicts of block.cu: warps of one block, barriers and shared memory.

Ref: BARRACUDA (PLDI'17) Section 3.3.2.
"""

from functools import partial

from racetrap.sim.gpu.suites.concurrency.case import (
    BARRIER_DIVERGENCE,
    INTRA_BLOCK,
    NONE,
    Case,
)

__all__ = ["BLOCK_CASES"]

_case = partial(Case, source="block", grid=1, block=64)

BLOCK_CASES = (
    _case("shared_exchange_nothing", INTRA_BLOCK, "Nothing orders the two warps."),
    _case("shared_exchange_warp_barrier", INTRA_BLOCK, "A barrier of each warp orders no two."),
    _case("shared_exchange_fence", INTRA_BLOCK, "A fence alone makes nobody wait."),
    _case("shared_exchange_barrier", NONE, "A barrier lies between store and load."),
    _case("shared_exchange_barrier_or", NONE, "A barrier with reduction is a barrier."),
    _case("global_exchange_barrier", NONE, "A barrier orders global memory in its block."),
    _case("global_exchange_nothing", INTRA_BLOCK, "Nothing orders the two warps."),
    _case("global_overwrite_nothing", INTRA_BLOCK, "Two warps store to one word."),
    _case("same_value_two_warps", INTRA_BLOCK, "Equal values are let pass within one warp only."),
    _case("double_buffer", NONE, "Two buffers in turn, one barrier a step."),
    _case("single_buffer", NONE, "One buffer, a barrier after the store and after the load."),
    _case("single_buffer_reused", INTRA_BLOCK, "The next store may overtake the other's load."),
    _case("tree_barriers", NONE, "A barrier between all steps.", block=128),
    _case("tree_lockstep_tail", NONE, "No barrier once a single warp adds.", block=128),
    _case("tree_tail_too_early", INTRA_BLOCK, "No barrier while two warps add.", block=128),
    _case("transpose_2d_barrier", NONE, "A barrier in a block of two dimensions.", block=(8, 8)),
    _case("transpose_2d_nothing", INTRA_BLOCK, "Rows of the other warp are read.", block=(8, 8)),
    _case("layers_3d_barrier", NONE, "A barrier in three dimensions.", block=(4, 4, 4)),
    _case("layers_3d_nothing", INTRA_BLOCK, "Layers 2 apart: other warp.", block=(4, 4, 4)),
    _case("rows_of_a_warp_2d", NONE, "Neighbouring rows are lanes of one warp.", block=(8, 8)),
    _case("barrier_half_warp", BARRIER_DIVERGENCE, "Half a warp waits.", block=32),
    _case("barrier_in_each_branch", BARRIER_DIVERGENCE, "Each side has its own barrier."),
    _case("barrier_uneven_loop", BARRIER_DIVERGENCE, "Odd threads wait once more."),
    _case("barrier_after_exit", NONE, "Threads that ended are not waited for."),
    _case("barrier_by_block", NONE, "All of a block take the branch with the barrier.", grid=2),
    _case("barrier_partial_warp", NONE, "A barrier with 8 lanes in the last warp.", block=40),
    _case("dynamic_shared_barrier", NONE, "A barrier lies in between.", dynamic_shared=256),
)  # fmt: skip
