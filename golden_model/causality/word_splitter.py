"""Word splitter: from a warp instruction to a transaction for each word that it accesses.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from collections.abc import Iterator

from racetrap.golden_model.causality.packets import FenceOrder, Transaction, TransactionKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.events import (
    ALL_LANES,
    AtomicOp,
    Event,
    EventKind,
    MemoryOrder,
    Scope,
    Space,
)
from racetrap.golden_model.gpu.params import WORD_BYTES, check_place

_ACCESSES = {
    EventKind.LOAD: TransactionKind.LOAD,
    EventKind.STORE: TransactionKind.STORE,
    EventKind.ATOMIC: TransactionKind.ATOMIC,
}
_BRANCHES = {
    EventKind.IF: TransactionKind.IF,
    EventKind.ELSE: TransactionKind.ELSE,
    EventKind.FI: TransactionKind.FI,
    EventKind.WARP_BARRIER: TransactionKind.WARP_BARRIER,
}
_ORDERS = {
    MemoryOrder.IMPLIED: FenceOrder.SC,
    MemoryOrder.ACQUIRE: FenceOrder.ACQUIRE,
    MemoryOrder.RELEASE: FenceOrder.RELEASE,
    MemoryOrder.ACQ_REL: FenceOrder.ACQ_REL,
}


def split_words(event: Event, params: CausalityParams) -> list[Transaction]:
    """Transactions of one event, in the order of the lanes that come first in them.

    Lanes that access the same bytes of a word are one transaction.  Lanes of a CAS that store are
    one, those before the first of them another, and those that fail after it a third: they have
    read what it stored.  Changes of which lanes exist, copies, and accesses to shared memory that
    is not watched give none.

    Raises
    ------
    ValueError
        If the event names an SM, slot or warp that the configuration does not have, or an
        address that does not fit.
    """
    kind = event.kind
    if kind in _ACCESSES:
        if event.space == Space.SHARED and not params.shared_bytes:
            return []
        check_place(event, params)
        return list(_operation(event, params))
    where = {"slot": event.slot, "warp": event.warp, "pc": event.pc}
    if kind in _BRANCHES:
        check_place(event, params)
        lanes = event.mask
        if kind == EventKind.WARP_BARRIER:
            lanes = lanes or ALL_LANES
        return [Transaction(_BRANCHES[kind], **where, lanes=lanes)]
    if kind == EventKind.FENCE:
        check_place(event, params)
        return [
            Transaction(
                TransactionKind.FENCE, **where, order=_ORDERS[event.order],
                device=int(event.scope == Scope.DEVICE),
            )
        ]  # fmt: skip
    if kind == EventKind.BARRIER:
        check_place(event, params)
        return [Transaction(TransactionKind.BARRIER, slot=event.slot, pc=event.pc)]
    if kind == EventKind.PARTIAL_BARRIER:
        check_place(event, params)
        return [
            Transaction(
                TransactionKind.PARTIAL_BARRIER, slot=event.slot, pc=event.pc,
                number=event.grid_block, warps=event.mask,
            )
        ]  # fmt: skip
    if kind == EventKind.BARRIER_ARRIVE:
        check_place(event, params)
        return [Transaction(TransactionKind.ARRIVE, **where, number=event.grid_block)]
    if kind == EventKind.BLOCK_PLACED:
        check_place(event, params)
        warps = ((1 << event.warp_count) - 1) << event.warp
        return [Transaction(TransactionKind.BLOCK_START, slot=event.slot, warps=warps)]
    if kind == EventKind.BLOCK_RETIRED:
        check_place(event, params)
        return [Transaction(TransactionKind.BLOCK_END, slot=event.slot)]
    return []


def _operation(event: Event, params: CausalityParams) -> Iterator[Transaction]:
    """Transactions of an access, with what stands before and behind if it releases or acquires."""
    acquires = event.order in (MemoryOrder.ACQUIRE, MemoryOrder.ACQ_REL)
    releases = event.order in (MemoryOrder.RELEASE, MemoryOrder.ACQ_REL)
    acquires = acquires and event.kind != EventKind.STORE
    releases = releases and event.kind != EventKind.LOAD
    if not (acquires or releases):
        yield from _accesses(event, params, 0, 0)
        return
    order = FenceOrder(acquires * FenceOrder.ACQUIRE | releases * FenceOrder.RELEASE)
    around = {
        "slot": event.slot, "warp": event.warp, "pc": event.pc,
        "device": int(event.scope == Scope.DEVICE), "order": order,
    }  # fmt: skip
    if releases:
        yield Transaction(TransactionKind.BEGIN, **around)
    yield from _accesses(event, params, int(acquires), int(releases))
    yield Transaction(TransactionKind.END, **around)


def _accesses(
    event: Event, params: CausalityParams, acquire: int, release: int
) -> Iterator[Transaction]:
    lanes: dict[tuple[int, int, int, int], int] = {}
    stored: dict[int, tuple[int, int]] = {}
    unequal: set[int] = set()
    is_atomic = event.kind == EventKind.ATOMIC
    for lane in event.lanes:
        end = lane.address + event.size
        if end - 1 >> params.address_bits:
            raise ValueError(
                f"Address must fit in {params.address_bits} bits, not {lane.address:#x}"
            )
        writes = event.kind == EventKind.STORE or (
            is_atomic and (event.op != AtomicOp.CAS or lane.success)
        )
        value = lane.value, lane.compare
        if stored.setdefault(lane.address, value) != value:
            unequal.add(lane.address // WORD_BYTES)
        for word in range(lane.address // WORD_BYTES, (end - 1) // WORD_BYTES + 1):
            first = max(lane.address - word * WORD_BYTES, 0)
            last = min(end - word * WORD_BYTES, WORD_BYTES)
            touched = (1 << last) - (1 << first)
            reads_store = is_atomic and not writes and (word, touched, 1, 0) in lanes
            key = word, touched, int(writes), int(reads_store)
            lanes[key] = lanes.get(key, 0) | 1 << lane.lane
    named = is_atomic or (event.strong and event.order != MemoryOrder.IMPLIED)
    is_plain_store = event.kind == EventKind.STORE and not named
    for (word, touched, stores, _), active in lanes.items():
        yield Transaction(
            kind=_ACCESSES[event.kind], slot=event.slot, warp=event.warp, pc=event.pc,
            shared=int(event.space), writes=stores, strong=int(is_atomic or event.strong),
            named=int(named), device=int(event.scope == Scope.DEVICE), acquire=acquire,
            release=release, unequal=int(is_plain_store and word in unequal),
            size=event.size.bit_length() - 1, bytes=touched, word=word, lanes=active,
        )  # fmt: skip
