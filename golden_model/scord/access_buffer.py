"""Access buffer: which of an SM's transactions get from its load/store unit to its tracker.

Ref: ScoRD (ISCA'20) Section V (LHD: the load/store unit waits for the detector).
"""

from __future__ import annotations

from typing import Final

from racetrap.golden_model.scord.packets import Transaction, TransactionKind
from racetrap.golden_model.scord.params import AccessPolicy, ScordParams
from racetrap.golden_model.scord.tracker import granule_mask

_ATOMIC: Final = int(TransactionKind.ATOMIC)


def is_sampled(line: int, sample_log2: int) -> bool:
    """Whether a line is the one of ``2**sample_log2`` that is looked at.

    The parts of its number of so many bits, added without carries, are 0.  So every bit of an
    address counts, and of lines in any distance that is a power of two as many are sampled.
    """
    parts = 0
    while line:
        parts ^= line & ((1 << sample_log2) - 1)
        line >>= sample_log2
    return parts == 0


class AccessBuffer:
    """Decides which transactions of an SM are handed on; they stay in order.

    Only accesses that change no lock are left out.  Whatever orders accesses is kept: without a
    fence, a barrier or a lock that there was, accesses in order would be reported, and without the
    start of a block its warps would hold locks of the block before.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Attributes
    ----------
    left_out : int
        Accesses dropped or not sampled, counted as the banks count those that they check.
    """

    def __init__(self, params: ScordParams) -> None:
        self._params = params
        self._policy = params.access_policy
        self.left_out = 0

    def takes(self, transaction: Transaction, held: int) -> bool:
        """Whether a transaction is taken while so many are held; else the load/store unit waits."""
        is_full = held >= self._params.access_buffer_depth
        return not is_full or self._leaves_out(transaction, is_full)

    def step(self, transaction: Transaction, is_full: bool = False) -> bool:
        """Whether a transaction that is taken is handed on; if it is not, its accesses are counted.

        Parameters
        ----------
        transaction : Transaction
            What the load/store unit gives.
        is_full : bool
            Whether the buffer has no room for it.
        """
        if not self._leaves_out(transaction, is_full):
            return True
        mask = transaction.mask
        if transaction.kind != _ATOMIC:
            mask = granule_mask(mask, self._params.granularity)
        self.left_out += mask.bit_count()
        return False

    def _leaves_out(self, transaction: Transaction, is_full: bool) -> bool:
        if self._policy == AccessPolicy.STALL or not _is_plain(transaction):
            return False
        if self._policy == AccessPolicy.DROP:
            return is_full
        return not is_sampled(transaction.line, self._params.sample_log2)

    @property
    def counters(self) -> dict[str, int]:
        """Its counter by the register's name, if the policy leaves anything out."""
        return {} if self._policy == AccessPolicy.STALL else {"accesses_left_out": self.left_out}


def _is_plain(transaction: Transaction) -> bool:
    """Whether a transaction is nothing but accesses."""
    kind = transaction.kind
    return kind < _ATOMIC or (kind == _ATOMIC and not transaction.lock_mask)
