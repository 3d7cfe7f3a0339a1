"""Lock table: the locks that one warp is taking or holds.

Ref: ScoRD (ISCA'20) Section IV-A "Detecting races due to lock/unlock", Fig. 6.
"""

from __future__ import annotations

from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.bloom_filter import filter_of_key
from racetrap.golden_model.scord.lock_hash import block_mask
from racetrap.golden_model.scord.packets import LockState

_S = LockState

#: Scope of the CAS that made an entry of each state: what a later CAS or EXCH must match.
CAS_SCOPE = {
    _S.PENDING_BLOCK: Scope.BLOCK,
    _S.PENDING_DEVICE: Scope.DEVICE,
    _S.HELD_BLOCK: Scope.BLOCK,
    _S.HELD_BLOCK_BY_DEVICE: Scope.DEVICE,
    _S.HELD_DEVICE: Scope.DEVICE,
}

#: State of an entry after a fence of each scope.  A device fence activates every entry at the
#: scope of its CAS, a block fence only as far as block scope.
AFTER_FENCE = {
    Scope.BLOCK: {
        _S.PENDING_BLOCK: _S.HELD_BLOCK,
        _S.PENDING_DEVICE: _S.HELD_BLOCK_BY_DEVICE,
        _S.HELD_BLOCK: _S.HELD_BLOCK,
        _S.HELD_BLOCK_BY_DEVICE: _S.HELD_BLOCK_BY_DEVICE,
        _S.HELD_DEVICE: _S.HELD_DEVICE,
    },
    Scope.DEVICE: {
        _S.PENDING_BLOCK: _S.HELD_BLOCK,
        _S.PENDING_DEVICE: _S.HELD_DEVICE,
        _S.HELD_BLOCK: _S.HELD_BLOCK,
        _S.HELD_BLOCK_BY_DEVICE: _S.HELD_DEVICE,
        _S.HELD_DEVICE: _S.HELD_DEVICE,
    },
}


class LockTable:
    """FIFO of locks, newest first; a removal closes the gap.

    The order is kept by position, so that no pointer bits are needed: the table takes the
    paper's 36 bits.

    Parameters
    ----------
    depth : int
        Capacity; inserting into a full table drops the oldest lock.

    Attributes
    ----------
    entries : list of (int, LockState)
        Hash and state of each lock, newest first.
    """

    __slots__ = ("_depth", "entries")

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self.entries: list[tuple[int, LockState]] = []

    def insert(self, lock: int, scope: int) -> None:
        """Record a successful CAS; a lock already present (same hash and CAS scope) is unchanged.

        Parameters
        ----------
        lock : int
            Hash of the lock's word address.
        scope : int
            Scope of the CAS.
        """
        if self._find(lock, scope) is None:
            pending = _S.PENDING_DEVICE if scope == Scope.DEVICE else _S.PENDING_BLOCK
            self.entries.insert(0, (lock, pending))
            del self.entries[self._depth :]

    def remove(self, lock: int, scope: int) -> None:
        """Record an EXCH of 0: remove the entry of equal hash and CAS scope, if there is one."""
        position = self._find(lock, scope)
        if position is not None:
            del self.entries[position]

    def fence(self, scope: int) -> None:
        """Activate entries as a fence of the given scope does."""
        after = AFTER_FENCE[Scope(scope)]
        self.entries = [(lock, after[state]) for lock, state in self.entries]

    def filter(self, block: int) -> int:
        """Bloom filter of the locks held, for accesses from BlockID ``block``.

        A lock held at device scope has the device key and the key of its block, so that
        device and block locks of one variable protect each other inside a block.
        """
        mask = block_mask(block)
        bits = 0
        for lock, state in self.entries:
            if state >= _S.HELD_BLOCK:
                bits |= filter_of_key(lock ^ mask)
            if state == _S.HELD_DEVICE:
                bits |= filter_of_key(lock)
        return bits

    def clear(self) -> None:
        """Remove all locks."""
        self.entries.clear()

    def _find(self, lock: int, scope: int) -> int | None:
        for position, (other, state) in enumerate(self.entries):
            if other == lock and CAS_SCOPE[state] == scope:
                return position
        return None
