"""Verdicts of grid.cu: barriers over the grid, the last block, rings and lists.

Ref: BARRACUDA (PLDI'17) Section 3.1 (threadFenceReduction) and Section 6.1.
"""

from functools import partial

from racetrap.sim.gpu.suites.concurrency.case import INTER_BLOCK, INTRA_BLOCK, NONE, Case

__all__ = ["GRID_CASES"]

_case = partial(Case, source="grid", grid=2, block=64)
_threads = partial(Case, source="grid", grid=2, block=1)

_BARRIERS = (
    _case(
        "grid_barrier_right", NONE, "Barrier, counter between fences, barrier.",
        scord_reason="the writing warp made no fence: its block's first thread did for it",
    ),
    _case("grid_barrier_unfenced", INTER_BLOCK, "Atomics alone order nothing."),
    _case("grid_barrier_block_fences", INTER_BLOCK, "Block fences end at the block."),
    _case(
        "grid_barrier_block_atomics", NONE, "The paper knows no scopes of atomics.",
        scoped=INTER_BLOCK, scoped_reason="block-scope atomics do not reach the other block",
    ),
    _case("grid_barrier_no_barrier_before", INTER_BLOCK, "The second warp is not waited for."),
    _case("grid_barrier_no_barrier_after", INTER_BLOCK, "The second warp does not wait."),
    _threads("grid_phases", NONE, "A barrier after the store and after the load.", grid=3),
    _threads("grid_phases_reuse", INTER_BLOCK, "The next store may overtake the load.", grid=3),
    _threads("block_barriers_only", INTER_BLOCK, "A barrier ends at the block."),
    _case("two_launches", NONE, "A launch ends before the next begins.", launches=2),
)  # fmt: skip

_HAND_OVERS = (
    _case("last_block_right", NONE, "The ticket is taken between fences."),
    _case(
        "last_block_fence_before_only", INTER_BLOCK, "A fence before releases with exchanges only.",
        scoped=NONE, scoped_reason="any atomic releases behind a fence, and acquires without",
    ),
    _case(
        "last_block_fence_after_only", INTER_BLOCK, "No release of the parts.",
        scord_reason="any fence since the store will do, even one behind the ticket",
    ),
    _case("last_block_unfenced", INTER_BLOCK, "Atomics alone order nothing."),
    _case("last_block_block_fences", INTER_BLOCK, "Block fences end at the block."),
    _case(
        "last_block_no_barrier", INTRA_BLOCK | INTER_BLOCK,
        "The second warp is told by a volatile word, without fence or barrier.",
        scoped=INTRA_BLOCK,
        scoped_reason="the fence behind the ticket lets the word hand on the parts",
    ),
    _threads("ring_right", NONE, "Both counts are released and acquired."),
    _threads("ring_producer_unfenced", INTER_BLOCK, "The count may overtake the slot."),
    _threads("ring_consumer_unfenced", INTER_BLOCK, "A slot may be filled while it is read."),
    _threads("list_push_fenced", NONE, "Swap and exchange stand between fences."),
    _threads("list_push_unfenced", INTER_BLOCK, "A node may be seen before its content."),
)  # fmt: skip

_DATA = (
    _case("private_words", NONE, "Every thread has its own word."),
    _case("common_reads", NONE, "Loads do not race with each other."),
    _case("same_value_two_blocks", INTER_BLOCK, "Equal values are let pass in one warp only.",
          block=32),
    _case("stencil_over_blocks", INTER_BLOCK, "The first thread reads the other block's last.",
          block=32),
    _threads("read_only_path", INTER_BLOCK, "The read-only path still reads what changes."),
    _threads("halves_of_a_word_blocks", NONE, "Each block has its own half.",
             scord_reason="the granule is a 4-byte word"),
    _threads("grid_of_three_dimensions", NONE, "Each block has its own word.", grid=(2, 2, 2)),
    _threads("grid_columns_collide", INTER_BLOCK, "Blocks of a column share a word.",
             grid=(2, 2)),
)  # fmt: skip

GRID_CASES = _BARRIERS + _HAND_OVERS + _DATA
