"""Lane splitter: from a warp instruction to a transaction for each of its lanes, in order.

It models the load/store unit that every SM has, so it has no RTL.

Ref: HiRace (SC'24): threads are distinguished, also within a warp.
"""

from __future__ import annotations

from racetrap.golden_model.events import Event, EventKind, Space
from racetrap.golden_model.gpu.params import WORD_BYTES, check_place
from racetrap.golden_model.hirace.packets import Transaction, TransactionKind
from racetrap.golden_model.hirace.params import HiraceParams

_WORD_SHIFT = WORD_BYTES.bit_length() - 1
_ACCESSES = {
    EventKind.LOAD: TransactionKind.LOAD,
    EventKind.STORE: TransactionKind.STORE,
    EventKind.ATOMIC: TransactionKind.ATOMIC,
}


def split_lanes(event: Event, params: HiraceParams) -> list[Transaction]:
    """Transactions of one event, lanes in ascending order.

    A barrier of a warp counts for the whole warp, whatever lanes it names.  Fences, the ordering
    semantics of an access, barriers of some warps of a block, changes of a warp's active lanes and
    accesses to unmonitored shared memory give none.

    Raises
    ------
    ValueError
        If the event names an SM, slot or warp that the configuration does not have, or an
        address that does not fit.
    """
    kind = event.kind
    if kind in _ACCESSES:
        is_shared = event.space == Space.SHARED
        if is_shared and not params.shared_bytes:
            return []
        check_place(event, params)
        return [_access(event, lane.lane, lane.address, params) for lane in event.lanes]
    if kind == EventKind.BLOCK_PLACED:
        check_place(event, params)
        return [Transaction(TransactionKind.BLOCK_START, slot=event.slot)]
    if kind == EventKind.BARRIER:
        check_place(event, params)
        return [Transaction(TransactionKind.BARRIER, slot=event.slot, pc=event.pc)]
    if kind == EventKind.WARP_BARRIER:
        check_place(event, params)
        return [
            Transaction(TransactionKind.WARP_BARRIER, slot=event.slot, warp=event.warp, pc=event.pc)
        ]
    return []


def _access(event: Event, lane: int, address: int, params: HiraceParams) -> Transaction:
    last = address + event.size - 1
    if last >> params.address_bits:
        raise ValueError(f"Address must fit in {params.address_bits} bits, not {address:#x}")
    kind = _ACCESSES[event.kind]
    return Transaction(
        kind=kind,
        scope=int(event.scope) if kind == TransactionKind.ATOMIC else 0,
        shared=int(event.space),
        slot=event.slot,
        warp=event.warp,
        lane=lane,
        pc=event.pc,
        word=address >> _WORD_SHIFT,
        more=(last >> _WORD_SHIFT) - (address >> _WORD_SHIFT),
    )
