"""Verdicts of locks.cu: spin locks.

The paper takes a compare-and-swap before a fence for an acquire, and an exchange or a store
behind one for a release; it knows scopes of fences, not of atomics.

Ref: BARRACUDA (PLDI'17) Section 3.1; ScoRD (ISCA'20) Section III.
"""

from functools import partial

from racetrap.sim.gpu.suites.concurrency.case import INTER_BLOCK, INTRA_BLOCK, NONE, Case

__all__ = ["LOCK_CASES"]

_warps = partial(Case, source="locks", grid=1, block=64)
_blocks = partial(Case, source="locks", grid=2, block=1)
_NO_ACQUIRE = "Without the first fence taking the lock is no acquire."
_NO_RELEASE = "Without the last fence freeing the lock is no release."
_NO_LOCK_HELD = "with no first fence on either side no lock is held, and the last fences do"

_SCOPES = (
    _blocks("lock_blocks", NONE, "Device fences inside the critical section's ends."),
    _blocks(
        "lock_blocks_no_first_fence", INTER_BLOCK, _NO_ACQUIRE, scord_reason=_NO_LOCK_HELD
    ),
    _blocks("lock_blocks_no_last_fence", INTER_BLOCK, _NO_RELEASE),
    _blocks("lock_blocks_no_fences", INTER_BLOCK, "Neither acquire nor release."),
    _blocks("lock_blocks_block_fences", INTER_BLOCK, "Block fences end at the block."),
    _blocks(
        "lock_blocks_first_fence_block", NONE, "One device fence of the two is enough.",
        scoped=INTER_BLOCK, scoped_reason="a lock's scope is its narrowest part's",
    ),
    _blocks(
        "lock_blocks_last_fence_block", NONE, "One device fence of the two is enough.",
        scoped=INTER_BLOCK, scoped_reason="a lock's scope is its narrowest part's",
    ),
    _blocks(
        "lock_blocks_block_atomics", NONE, "The paper knows no scopes of atomics.",
        scoped=INTER_BLOCK, scoped_reason="block-scope atomics do not reach the other block",
    ),
    _warps("lock_warps", NONE, "Block scope throughout, in one block."),
    _warps("lock_warps_device", NONE, "Device scope throughout, in one block."),
    _warps(
        "lock_warps_no_first_fence", INTRA_BLOCK, _NO_ACQUIRE, scord_reason=_NO_LOCK_HELD
    ),
    _warps("lock_warps_no_last_fence", INTRA_BLOCK, _NO_RELEASE),
    _warps("lock_in_shared", NONE, "Lock and data in shared memory, set up before a barrier."),
)  # fmt: skip

_MISTAKES = (
    _blocks("lock_one_party", INTER_BLOCK, "The other block does not take the lock."),
    _blocks("lock_two_locks", INTER_BLOCK, "Each block takes another lock."),
    _blocks("lock_two_locks_two_words", NONE, "Each block has its own lock and its own word."),
    _blocks("lock_nested", NONE, "Both words lie under the outer lock."),
    _blocks("lock_nested_inner_only", INTER_BLOCK, "The second word has no lock in common."),
    _blocks("lock_hand_over_hand", NONE, "The next lock is taken before the last is freed."),
    _blocks("lock_store_after_unlock", INTER_BLOCK, "A store comes after the lock is freed."),
    _blocks(
        "unlock_by_store", NONE, "A store behind a fence is a release.",
        scoped=INTER_BLOCK, scoped_reason="the store is volatile, not atomic as the others' swaps",
    ),
    _blocks("unlock_by_store_unfenced", INTER_BLOCK, "The lock is freed by a mere store."),
    _blocks(
        "lock_weak_data", NONE, "The paper does not tell weak from volatile.",
        scoped=INTER_BLOCK, scoped_reason="fences order strong accesses only",
    ),
    _blocks("try_lock", NONE, "Who does not get the lock does not touch the data."),
    _blocks("try_lock_ignored", INTER_BLOCK, "Who does not get the lock goes on all the same."),
)  # fmt: skip

LOCK_CASES = _SCOPES + _MISTAKES
