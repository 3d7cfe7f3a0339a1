"""Coalescer: from a warp instruction to transactions of one 128-byte line each.

Ref: ScoRD (ISCA'20) Section IV; Table V for the line size.
"""

from __future__ import annotations

from racetrap.golden_model.events import AtomicOp, Event, EventKind, Lane, MemoryOrder, Space
from racetrap.golden_model.gpu.params import LINE_BYTES, WORD_BYTES, WORDS_PER_LINE, check_place
from racetrap.golden_model.scord.packets import Transaction, TransactionKind
from racetrap.golden_model.scord.params import ScordParams

_LINE_SHIFT = LINE_BYTES.bit_length() - 1
_WORD_SHIFT = WORD_BYTES.bit_length() - 1


def coalesce(event: Event, params: ScordParams) -> list[Transaction]:
    """Transactions of one event, lines in ascending order.

    A word is in ``mask`` if any active lane touches it, and in ``lock_mask`` if in some lane a CAS
    changed 0 to 1 or an EXCH stored 0 at that lane's own address.  A release store is strong at its
    scope, like an atomic, and may free a lock: it counts as an EXCH.  Events that no tracker sees
    give none: accesses to shared memory, kernel begin and end, retirement of a block, and changes
    of a warp's active lanes.

    Raises
    ------
    ValueError
        If the event names an SM, slot or warp that the configuration does not have, or an
        address that does not fit.
    """
    kind = event.kind
    if kind > EventKind.BLOCK_PLACED or event.space == Space.SHARED:
        return []
    check_place(event, params)
    if kind == EventKind.BLOCK_PLACED:
        warps = ((1 << event.warp_count) - 1) << event.warp
        others, first = divmod(warps, 1 << WORDS_PER_LINE)
        return [
            Transaction(TransactionKind.BLOCK_START, slot=event.slot, mask=first, lock_mask=others)
        ]
    if kind == EventKind.BARRIER:
        return [Transaction(TransactionKind.BARRIER, slot=event.slot)]
    if kind == EventKind.FENCE:
        return [
            Transaction(
                TransactionKind.FENCE,
                scope=int(event.scope),
                slot=event.slot,
                warp=event.warp,
            )
        ]
    return _lines(event, params)


def _lines(event: Event, params: ScordParams) -> list[Transaction]:
    """Transactions of a load, store or atomic."""
    masks: dict[int, int] = {}
    lock_masks: dict[int, int] = {}
    is_release = event.kind == EventKind.STORE and event.order == MemoryOrder.RELEASE
    atomic = is_release or event.kind == EventKind.ATOMIC
    op = AtomicOp.EXCH if is_release else event.op
    for lane in event.lanes:
        first, last = lane.address, lane.address + event.size - 1
        if last >> params.address_bits:
            raise ValueError(
                f"Address must fit in {params.address_bits} bits, not {lane.address:#x}"
            )
        for word in range(first >> _WORD_SHIFT, (last >> _WORD_SHIFT) + 1):
            line = word // WORDS_PER_LINE
            masks[line] = masks.get(line, 0) | 1 << word % WORDS_PER_LINE
        if atomic and _changes_lock(op, lane):
            line = first >> _LINE_SHIFT
            bit = 1 << (first >> _WORD_SHIFT) % WORDS_PER_LINE
            lock_masks[line] = lock_masks.get(line, 0) | bit
    return [
        Transaction(
            kind=int(TransactionKind.ATOMIC if atomic else event.kind),
            scope=int(event.scope) if atomic else 0,
            strong=int(atomic or event.strong),
            op=int(op) if atomic else 0,
            slot=event.slot,
            warp=event.warp,
            pc=event.pc,
            line=line,
            mask=masks[line],
            lock_mask=lock_masks.get(line, 0),
        )
        for line in sorted(masks)
    ]


def _changes_lock(op: AtomicOp, lane: Lane) -> bool:
    """Whether an atomic takes (CAS 0 to 1) or frees (EXCH of 0) what may be a lock."""
    if op == AtomicOp.CAS:
        return lane.success and lane.compare == 0 and lane.value == 1
    return op == AtomicOp.EXCH and lane.value == 0
