"""Verdicts of lock_patterns.cu: locks for lanes, blocks and readers, and by ticket.

Ref: BARRACUDA (PLDI'17) Section 3.1 and Section 6.1.
"""

from functools import partial

from racetrap.sim.gpu.suites.concurrency.case import INTER_BLOCK, INTRA_BLOCK, NONE, Case

__all__ = ["LOCK_PATTERN_CASES"]

_warps = partial(Case, source="lock_patterns", grid=1, block=64)
_blocks = partial(Case, source="lock_patterns", grid=2, block=1)

LOCK_PATTERN_CASES = (
    _warps("lane_locks_one_warp", NONE, "The winner works, then meets the others.", block=32),
    _warps("lane_locks_two_warps", NONE, "The same, and fences order the warps."),
    _warps("lane_locks_by_hash", NONE, "Four words, each under its own lock."),
    _warps("lane_locks_by_hash_unfenced", INTRA_BLOCK, "Lockstep does not order two warps."),
    _warps("lane_locks_wrong_hash", INTRA_BLOCK, "Lock and word are chosen differently."),
    _warps(
        "lock_for_whole_block", NONE, "Barriers bring the block under its first thread's lock.",
        grid=2,
        scord_reason="the writing warp made no fence: its first thread did for it",
    ),
    _warps("lock_freed_too_early", INTER_BLOCK, "The second warp may still be at work.", grid=2),
    _blocks("ticket_lock_fenced", NONE, "Atomics between fences acquire and release.", grid=3),
    _blocks("ticket_lock_unfenced", INTER_BLOCK, "The lock is freed without a release.", grid=3),
    _blocks(
        "readers_and_writer", NONE, "Readers count themselves in and out.", grid=3,
        scord_reason="only a swap of 0 to 1 takes a lock",
    ),
    _blocks("reader_without_lock", INTER_BLOCK, "The readers do not lock.", grid=3),
)  # fmt: skip
