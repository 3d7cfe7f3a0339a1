"""Vocabulary of a load/store unit's issue stream: what each warp does, in the order of issue.

These enumerations are the encodings on the wires; the RTL imports them.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6; PTX ISA 9.0, Section 9.7.13.1 (bar).
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from racetrap.golden_model.events import (
    WARP_SIZE,
    AtomicOp,
    Event,
    EventKind,
    Lane,
    MemoryOrder,
    Scope,
    Space,
    lanes_of,
)


class IssueKind(IntEnum):
    """What is issued; PARTIAL_BARRIER is what the barrier counter makes of the last arrival."""

    LOAD = 0
    STORE = 1
    ATOMIC = 2
    FENCE = 3
    BARRIER = 4
    ARRIVE = 5
    BLOCK_START = 6
    BLOCK_END = 7
    IF = 8
    ELSE = 9
    FI = 10
    WARP_BARRIER = 11
    EXIT = 12
    PARTIAL_BARRIER = 13


#: Kinds that concern a block, not one of its warps.
OF_BLOCK = frozenset({IssueKind.BLOCK_START, IssueKind.BLOCK_END})
_EVENTS = {
    IssueKind.LOAD: EventKind.LOAD,
    IssueKind.STORE: EventKind.STORE,
    IssueKind.ATOMIC: EventKind.ATOMIC,
    IssueKind.FENCE: EventKind.FENCE,
    IssueKind.BARRIER: EventKind.BARRIER,
    IssueKind.ARRIVE: EventKind.BARRIER_ARRIVE,
    IssueKind.BLOCK_START: EventKind.BLOCK_PLACED,
    IssueKind.BLOCK_END: EventKind.BLOCK_RETIRED,
    IssueKind.IF: EventKind.IF,
    IssueKind.ELSE: EventKind.ELSE,
    IssueKind.FI: EventKind.FI,
    IssueKind.WARP_BARRIER: EventKind.WARP_BARRIER,
    IssueKind.EXIT: EventKind.EXIT,
    IssueKind.PARTIAL_BARRIER: EventKind.PARTIAL_BARRIER,
}
_KINDS = {event: kind for kind, event in _EVENTS.items()}
_ACCESSES = (IssueKind.LOAD, IssueKind.STORE, IssueKind.ATOMIC)


class Instruction(NamedTuple):
    """What a load/store unit issues for a warp, or the block scheduler for a block.

    ========================  ==================================================
    kind                      fields used, beside ``slot``
    ========================  ==================================================
    LOAD, STORE, ATOMIC       warp, pc, scope, strong, order, shared, size, lanes, addresses;
                              ATOMIC: op; STORE, ATOMIC: marks
    FENCE                     warp, pc, scope, order
    BARRIER, ARRIVE           warp, pc, number, warps, lanes
    BLOCK_START               warp (the first), warps, lanes (of the last warp)
    BLOCK_END                 none
    IF, ELSE, FI              warp, pc, lanes
    WARP_BARRIER              warp, pc, lanes (0: all)
    EXIT                      warp, lanes
    PARTIAL_BARRIER           pc, number, warps
    ========================  ==================================================

    Parameters
    ----------
    kind : IssueKind
        What is issued.
    slot, warp : int
        Block slot and warp slot in the SM.
    pc, scope, strong, op, order, shared : int
        As of an ``Event``; ``shared`` is its space.
    size : int
        Log2 of the bytes that each lane accesses.
    number : int
        Number of the barrier in its block.
    warps : int
        BARRIER, ARRIVE: how many warps must arrive, 0: all that have not ended.  BLOCK_START: warp
        slots that the block takes, one bit each.  PARTIAL_BARRIER: warps that have waited, one bit
        each, counted from the block's first warp.
    lanes : int
        Lanes concerned, one bit each.
    marks : int
        Lanes, one bit each, whose values matter.  CAS: would store 1 where 0 was.  EXCH, and a
        release store: stores 0.  Another store: stores another value than the lowest lane with the
        same address does.
    addresses : tuple of int
        First byte that each active lane accesses, ascending lanes.
    success : int
        Outcome of a CAS: lanes, one bit each, that found the value expected.  It is no part of what
        is issued, but comes behind it.
    """

    kind: int
    slot: int = 0
    warp: int = 0
    pc: int = 0
    scope: int = 0
    strong: int = 0
    op: int = 0
    order: int = 0
    shared: int = 0
    size: int = 0
    number: int = 0
    warps: int = 0
    lanes: int = 0
    marks: int = 0
    addresses: tuple[int, ...] = ()
    success: int = 0

    @property
    def is_cas(self) -> bool:
        """Whether its outcome decides what it is."""
        return self.kind == IssueKind.ATOMIC and self.op == AtomicOp.CAS


def event_of(instruction: Instruction, sm: int) -> Event:
    """The event of an instruction with its outcome; it has some values that fit the marks."""
    kind = _EVENTS[IssueKind(instruction.kind)]
    event = Event(
        kind, sm=sm, slot=instruction.slot, warp=instruction.warp, pc=instruction.pc,
        scope=Scope(instruction.scope), strong=bool(instruction.strong),
        op=AtomicOp(instruction.op), space=Space(instruction.shared),
        order=MemoryOrder(instruction.order),
    )  # fmt: skip
    if instruction.kind in _ACCESSES:
        return event._replace(size=1 << instruction.size, lanes=_lanes(instruction))
    if kind == EventKind.BLOCK_PLACED:
        return event._replace(warp_count=instruction.warps.bit_count(), mask=instruction.lanes)
    if kind == EventKind.PARTIAL_BARRIER:
        return event._replace(grid_block=instruction.number, mask=instruction.warps)
    if kind == EventKind.BARRIER_ARRIVE:
        return event._replace(grid_block=instruction.number)
    return event if kind == EventKind.BARRIER else event._replace(mask=instruction.lanes)


def _lanes(instruction: Instruction) -> tuple[Lane, ...]:
    """Lanes of an access, with values as its marks tell."""
    lanes = []
    frees = instruction.kind == IssueKind.ATOMIC or instruction.order == MemoryOrder.RELEASE
    for lane, address in zip(lanes_of(instruction.lanes), instruction.addresses, strict=True):
        mark = instruction.marks >> lane & 1
        if instruction.is_cas:
            success = bool(instruction.success >> lane & 1)
            lanes.append(Lane(lane, address, value=1, compare=1 - mark, success=success))
        else:
            lanes.append(Lane(lane, address, value=mark ^ frees))
    return tuple(lanes)


def instruction_of(event: Event) -> Instruction | None:
    """What is issued for an event, with its outcome; None if nothing is.

    A barrier that all warps pass, or some, is no instruction: each warp arrives by its own.
    """
    kind = _KINDS.get(event.kind)
    if kind is None or kind in (IssueKind.BARRIER, IssueKind.PARTIAL_BARRIER):
        return None
    instruction = Instruction(
        kind, event.slot, event.warp, event.pc, event.scope, event.strong, event.op, event.order,
        event.space, lanes=event.mask, number=event.grid_block * (kind == IssueKind.ARRIVE),
    )  # fmt: skip
    if kind == IssueKind.BLOCK_START:
        warps = ((1 << event.warp_count) - 1) << event.warp
        return instruction._replace(warps=warps, lanes=event.mask or (1 << WARP_SIZE) - 1)
    if kind not in _ACCESSES:
        return instruction
    first: dict[int, tuple[int, int]] = {}
    marks = success = 0
    for lane in event.lanes:
        marks |= _mark(event, lane, first) << lane.lane
        success |= lane.success << lane.lane
    return instruction._replace(
        size=event.size.bit_length() - 1, lanes=sum(1 << lane.lane for lane in event.lanes),
        marks=marks, addresses=tuple(lane.address for lane in event.lanes), success=success,
    )  # fmt: skip


def _mark(event: Event, lane: Lane, first: dict[int, tuple[int, int]]) -> bool:
    """Whether a lane's values matter; ``first`` has those of the lowest lane of each address."""
    value = lane.value, lane.compare
    if event.kind == EventKind.ATOMIC and event.op == AtomicOp.CAS:
        return value == (1, 0)
    if event.kind == EventKind.ATOMIC or event.order == MemoryOrder.RELEASE:
        return lane.value == 0
    return first.setdefault(lane.address, value) != value
