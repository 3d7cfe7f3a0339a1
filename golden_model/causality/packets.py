"""Vocabulary of causality's streams: transactions, packets, markers, steps and race kinds.

These enumerations are the encodings on the wires; the RTL imports them.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from racetrap.golden_model.causality.params import PLACE_BITS


class TransactionKind(IntEnum):
    """What an SM hands to its tracker: accesses, and what orders them.

    BEGIN stands before the accesses of a release operation, END behind those of an operation that
    releases or acquires.
    """

    LOAD = 0
    STORE = 1
    ATOMIC = 2
    FENCE = 3
    BARRIER = 4
    PARTIAL_BARRIER = 5
    ARRIVE = 6
    BEGIN = 7
    END = 8
    BLOCK_START = 9
    BLOCK_END = 10
    IF = 11
    ELSE = 12
    FI = 13
    WARP_BARRIER = 14


class PacketKind(IntEnum):
    """What a tracker sends to a detector bank.

    Accesses go to the bank of their word, all others to every bank: MARK stands for a marker that
    the collector settles when every bank has come to it, the rest are of the row of a warp.
    """

    LOAD = 0
    STORE = 1
    ATOMIC = 2
    MARK = 3
    IF = 4
    ELSE = 5
    FI = 6
    WARP_BARRIER = 7


class SizeCode(IntEnum):
    """Bytes that a lane accesses, as an entry has them."""

    ONE = 0
    TWO = 1
    FOUR = 2
    EIGHT = 3
    SIXTEEN = 4


class FenceOrder(IntEnum):
    """Ordering semantics of a fence or an operation; SC takes part in the order of fences, too."""

    SC = 0
    ACQUIRE = 1
    RELEASE = 2
    ACQ_REL = 3

    @property
    def acquires(self) -> bool:
        """Whether it takes in messages."""
        return self != FenceOrder.RELEASE

    @property
    def releases(self) -> bool:
        """Whether strong writes behind it are messages."""
        return self != FenceOrder.ACQUIRE


class Fenced(IntEnum):
    """Which ``fence.sc`` come before a warp's accesses, one bit each: of warps of its block, of any
    warp and of device scope, of other blocks."""

    BLOCK = 1
    DEVICE = 2
    OTHERS = 4


def from_other_block(fenced: int) -> int:
    """Bits of ``Fenced`` as a warp of another block must take them: it may be of the block of
    OTHERS."""
    seen = fenced & Fenced.DEVICE
    if fenced & Fenced.BLOCK:
        seen |= Fenced.OTHERS
    if fenced & Fenced.OTHERS:
        seen |= Fenced.BLOCK | Fenced.OTHERS
    return seen


class CollectorEvent(IntEnum):
    """Kinds of record on the collector's trace port: it takes a notice or a marker, or an epoch
    begins."""

    NOTICE = 0
    MARKER = 1
    EPOCH = 2


#: Kind of a marker that is of no transaction: its SM sends nothing more until an epoch begins.
HELD = 15


class ResumeKind(IntEnum):
    """What the collector tells an SM: that a warp goes on, that only accesses may go on as some
    clock is the last one, that nothing may, or that all clocks restart and all goes on."""

    WARP = 0
    FULL = 1
    HOLD = 2
    EPOCH = 3


class RaceKind(IntEnum):
    """What would have ordered the two accesses, and is missing."""

    NONE = 0
    RELEASE = 1
    ACQUIRE = 2
    SCOPE = 3
    BARRIER = 4
    WARP_BARRIER = 5
    UNEQUAL_STORE = 6


class Against(IntEnum):
    """Which earlier access a packet races with; BOTH are one report, which names the writer."""

    NONE = 0
    WRITER = 1
    READER = 2
    BOTH = 3


class Observed(IntEnum):
    """Who has read the last write by a morally strong access: if it is the reader of the entry,
    what comes behind that reader comes behind the write."""

    NOBODY = 0
    READER = 1
    SEVERAL = 2


class Transaction(NamedTuple):
    """What an SM hands to its tracker; fields that a kind does not use are 0.

    An access is to some bytes of one word, by the lanes in ``lanes``.  ``unequal`` says that a
    store's lanes store different values to one address, ``writes`` that an atomic stores.

    ``order`` is a ``FenceOrder`` (FENCE, BEGIN, END).  ``lanes`` of IF, ELSE, FI and WARP_BARRIER
    are those concerned; of PARTIAL_BARRIER and BLOCK_START ``warps`` are, one bit each, counted
    from the block's first warp, or from the SM's.  ``number`` is a barrier's.
    """

    kind: int
    slot: int = 0
    warp: int = 0
    pc: int = 0
    shared: int = 0
    writes: int = 0
    strong: int = 0
    named: int = 0
    device: int = 0
    acquire: int = 0
    release: int = 0
    unequal: int = 0
    size: int = 0
    bytes: int = 0
    word: int = 0
    lanes: int = 0
    order: int = 0
    number: int = 0
    warps: int = 0


class Packet(NamedTuple):
    """Access of lanes of one warp to one word, with the state of its warp that entries keep.

    ``warp`` is the number of a warp slot of the GPU, ``block`` that of a block slot.
    """

    kind: int
    block: int
    warp: int
    pc: int
    shared: int
    writes: int
    strong: int
    named: int
    device: int
    acquire: int
    release: int
    unequal: int
    size: int
    bytes: int
    word: int
    lanes: int
    clock: int
    released: int
    released_device: int
    sc: int

    @property
    def reads(self) -> bool:
        """Whether it reads: all but stores."""
        return self.kind != PacketKind.STORE

    @property
    def is_atomic(self) -> bool:
        """Whether it is an atomic."""
        return self.kind == PacketKind.ATOMIC

    @property
    def lane(self) -> int:
        """The highest lane: the one that an entry names."""
        return self.lanes.bit_length() - 1

    @property
    def place(self) -> int:
        """Hash of the instruction's place: two that differ are of two instructions."""
        place, pc = 0, self.pc
        while pc:
            place, pc = place ^ pc % (1 << PLACE_BITS), pc >> PLACE_BITS
        return place


class Marker(NamedTuple):
    """What the collector settles when all banks have checked what was before it.

    ``kind`` is one of ``TransactionKind`` that is no access; ``clock`` is the warp's then.
    """

    kind: int
    block: int
    warp: int
    order: int
    device: int
    clock: int
    number: int
    warps: int


class Undecided(IntEnum):
    """Volatile accesses that are a race only if they are no flag."""

    NONE = 0
    READ = 1
    WRITE_AFTER_WRITER = 2
    WRITE_AFTER_READER = 3
    WRITE_AFTER_BOTH = 4
