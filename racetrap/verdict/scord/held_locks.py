"""Locks that a warp actually holds at an access, without hash and Bloom filter.

Ref: ScoRD (ISCA'20) Section IV-A "Detecting races due to lock/unlock".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import islice

from racetrap.golden_model.events import ACCESS_KINDS, AtomicOp, EventKind
from racetrap.golden_model.gpu.params import WORDS_PER_LINE
from racetrap.golden_model.scord.coalescer import coalesce
from racetrap.golden_model.scord.lock_table import LockTable
from racetrap.golden_model.scord.packets import LockState, Transaction, TransactionKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.trace import Trace


def held_locks(
    trace: Trace, params: ScordParams, events: Iterable[int]
) -> dict[int, frozenset[int]]:
    """Word addresses of the locks held at some accesses, by the number of their event.

    The lock tables are the detector's, but with whole word addresses, so that aliased locks can be
    distinguished.

    Parameters
    ----------
    trace : Trace
        Run to watch.
    params : ScordParams
        Configuration (depth of the tables).
    events : iterable of int
        Numbers of the accesses asked for.
    """
    asked = frozenset(events)
    tables: defaultdict[tuple[int, int], LockTable] = defaultdict(
        lambda: LockTable(params.lock_table_depth)
    )
    held: dict[int, frozenset[int]] = {}
    for number, event in enumerate(islice(trace, max(asked, default=-1) + 1)):
        if event.kind == EventKind.KERNEL_BEGIN:
            tables.clear()
        if number in asked and event.kind in ACCESS_KINDS:
            entries = tables[event.sm, event.warp].entries
            held[number] = frozenset(
                word for word, state in entries if state >= LockState.HELD_BLOCK
            )
        for transaction in coalesce(event, params):
            _track(tables, event.sm, transaction)
    return held


def _track(
    tables: defaultdict[tuple[int, int], LockTable], sm: int, transaction: Transaction
) -> None:
    if transaction.kind == TransactionKind.BLOCK_START:
        for warp in range(transaction.warps.bit_length()):
            if transaction.warps >> warp & 1:
                tables[sm, warp].clear()
        return
    table = tables[sm, transaction.warp]
    if transaction.kind == TransactionKind.FENCE:
        table.fence(transaction.scope)
    for offset in range(transaction.lock_mask.bit_length()):
        if transaction.lock_mask >> offset & 1:
            word = transaction.line * WORDS_PER_LINE + offset
            if transaction.op == AtomicOp.CAS:
                table.insert(word, transaction.scope)
            elif transaction.op == AtomicOp.EXCH:
                table.remove(word, transaction.scope)
