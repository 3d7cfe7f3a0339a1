"""Verdicts of atomics.cu: atomics against atomics and against other accesses.

Ref: BARRACUDA (PLDI'17) Section 3.3.2; ScoRD (ISCA'20) Section III.
"""

from functools import partial

from racetrap.sim.gpu.suites.concurrency.case import INTER_BLOCK, INTRA_BLOCK, NONE, Case

__all__ = ["ATOMIC_CASES"]

_warps = partial(Case, source="atomics", grid=1, block=64)
_blocks = partial(Case, source="atomics", grid=2, block=32)
_both = partial(Case, source="atomics", grid=2, block=64)
_NO_SCOPES = "The paper knows no scopes of atomics."
_TOO_NARROW = "block scope does not reach the other block"

ATOMIC_CASES = (
    _blocks("atomics_blocks_device", NONE, "Atomics do not race with each other."),
    _blocks(
        "atomics_blocks_block", NONE, _NO_SCOPES, scoped=INTER_BLOCK, scoped_reason=_TOO_NARROW
    ),
    _blocks(
        "atomics_blocks_mixed", NONE, _NO_SCOPES, scoped=INTER_BLOCK, scoped_reason=_TOO_NARROW
    ),
    _blocks("atomics_blocks_system", NONE, "System scope holds the device."),
    _warps("atomics_warps_block", NONE, "Block scope is enough in one block."),
    _warps("atomics_warps_mixed", NONE, "Both scopes hold the other warp."),
    _blocks("atomic_store_blocks", INTER_BLOCK, "A plain store is not atomic."),
    _warps("atomic_store_warps", INTRA_BLOCK, "A plain store is not atomic."),
    _blocks("atomic_load_blocks", INTER_BLOCK, "A plain load is not atomic."),
    _blocks("atomic_volatile_store_blocks", INTER_BLOCK, "Volatile is not atomic."),
    _blocks("atomic_volatile_load_blocks", INTER_BLOCK, "Volatile is not atomic."),
    _warps("atomic_load_warps_block_scope", INTRA_BLOCK, "Volatile is not atomic."),
    _blocks("atomic_of_two_words", INTER_BLOCK, "The store hits the 64-bit atomic's upper half."),
    _blocks("atomics_of_two_neighbours", NONE, "Different words."),
    _blocks("atomic_handover_unfenced", INTER_BLOCK, "Atomics alone order nothing."),
    _both("float_sum", NONE, "Atomics do not race with each other."),
    _blocks("product_by_compare_and_swap", NONE, "Every access is an atomic.", block=1),
    _both("global_histogram", NONE, "Atomics do not race with each other."),
    _both(
        "global_histogram_block_scope", NONE, _NO_SCOPES,
        scoped=INTER_BLOCK, scoped_reason=_TOO_NARROW,
    ),
    _both("privatised_histogram", NONE, "Own words, a barrier, then device atomics."),
    _both("privatised_histogram_no_barrier", INTRA_BLOCK, "Counts are read while they grow."),
    _warps("init_barrier_atomics", NONE, "A barrier lies between the store and the atomics."),
    _both("init_by_other_block", INTER_BLOCK, "Another block's barrier orders nothing."),
    _both("append_to_list", NONE, "Every thread gets its own place."),
    _blocks("append_to_list_plain", INTER_BLOCK, "Two blocks count without atomics."),
)  # fmt: skip
