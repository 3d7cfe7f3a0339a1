"""Access buffer: selects the transactions that an SM's load/store unit passes to its tracker.

Ref: ScoRD (ISCA'20) Section V (LHD: the load/store unit waits for the detector).
"""

from __future__ import annotations

from typing import Final

from racetrap.golden_model.scord.packets import Transaction, TransactionKind
from racetrap.golden_model.scord.params import AccessPolicy, ScordParams
from racetrap.golden_model.scord.tracker import granule_mask

_ATOMIC: Final = int(TransactionKind.ATOMIC)


def is_sampled(line: int, sample_log2: int) -> bool:
    """Whether a line is the one of ``2**sample_log2`` that is checked.

    The XOR of its number's parts of ``sample_log2`` bits is 0.  So every address bit counts, and
    lines at any power-of-two distance are sampled equally often.
    """
    parts = 0
    while line:
        parts ^= line & ((1 << sample_log2) - 1)
        line >>= sample_log2
    return parts == 0


class AccessBuffer:
    """Decides which transactions of an SM are passed on; they stay in order.

    Only accesses that change no lock are skipped.  Operations that order accesses are kept: without
    a fence, barrier or lock operation, ordered accesses would be reported, and without the start of
    a block its warps would hold locks of the previous block.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Attributes
    ----------
    left_out : int
        Accesses dropped or not sampled, in words as the banks count.
    """

    def __init__(self, params: ScordParams) -> None:
        self._params = params
        self._policy = params.access_policy
        self.left_out = 0

    def takes(self, transaction: Transaction, held: int) -> bool:
        """Whether a transaction is taken while ``held`` are queued; otherwise the load/store unit
        waits."""
        is_full = held >= self._params.access_buffer_depth
        return not is_full or self._leaves_out(transaction, is_full)

    def step(self, transaction: Transaction, is_full: bool = False) -> bool:
        """Whether a transaction that is taken is passed on; if not, count its accesses.

        Parameters
        ----------
        transaction : Transaction
            Transaction from the load/store unit.
        is_full : bool
            Whether the buffer is full.
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
        """Its counter by the register's name, if the policy skips accesses."""
        return {} if self._policy == AccessPolicy.STALL else {"accesses_left_out": self.left_out}


def _is_plain(transaction: Transaction) -> bool:
    """Whether a transaction consists of plain accesses only."""
    kind = transaction.kind
    return kind < _ATOMIC or (kind == _ATOMIC and not transaction.lock_mask)
