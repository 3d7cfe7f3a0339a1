"""Vocabulary of ScoRD's streams: transactions, packets, steps and race kinds.

These enumerations are the encodings on the wires; the RTL imports them.

Ref: ScoRD (ISCA'20) Sections IV and IV-A, Tables III and IV.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from racetrap.golden_model.gpu.params import WORDS_PER_LINE


class TransactionKind(IntEnum):
    """Kind of transaction from an SM to its tracker."""

    LOAD = 0
    STORE = 1
    ATOMIC = 2
    FENCE = 3
    BARRIER = 4
    BLOCK_START = 5


class PacketKind(IntEnum):
    """Kind of packet from a tracker to the detector banks (codes as for transactions)."""

    LOAD = 0
    STORE = 1
    ATOMIC = 2
    FENCE = 3


class LockState(IntEnum):
    """State of a lock-table entry; the code is the three state bits."""

    INVALID = 0
    PENDING_BLOCK = 1
    PENDING_DEVICE = 2
    HELD_BLOCK = 3
    HELD_BLOCK_BY_DEVICE = 4
    HELD_DEVICE = 5


class Preliminary(IntEnum):
    """Preliminary check (Table III) that found the access trivially race-free."""

    NONE = 0
    INITIALIZATION = 1
    PROGRAM_ORDER = 2
    BARRIER = 3


class RaceKind(IntEnum):
    """Kind of race (Table IV; (e) and (f) differ by the access kind of the report)."""

    NONE = 0
    MISSING_BLOCK_FENCE = 1
    MISSING_DEVICE_FENCE = 2
    NOT_STRONG = 3
    SCOPED_ATOMIC = 4
    MISSING_LOCK = 5


class TableRow(IntEnum):
    """Row of the decision tables that an access took; ``detection_logic`` has the tables."""

    NONE = 0
    LOAD_FIRST = 1
    LOAD_PROGRAM_ORDER = 2
    LOAD_SCOPED_ATOMIC = 3
    LOAD_UNFENCED_WRITE = 4
    LOAD_FENCED_WRITE = 5
    LOAD_AFTER_READ = 6
    LOAD_NO_COMMON_LOCK = 7
    LOAD_LOCKED = 8
    STORE_FIRST = 9
    STORE_PROGRAM_ORDER = 10
    STORE_SCOPED_ATOMIC = 11
    STORE_BOTH_ATOMIC = 12
    STORE_UNFENCED_ACCESS = 13
    STORE_NOT_STRONG = 14
    STORE_FENCED_ACCESS = 15
    STORE_NO_COMMON_LOCK = 16
    STORE_LOCKED = 17
    FENCE = 18
    UNMONITORED = 19


#: Rows that leave the owner of the entry as it is; after any other the accessing warp owns it.
ROWS_KEEPING_OWNER = frozenset({TableRow.LOAD_AFTER_READ, TableRow.LOAD_LOCKED})


class Transaction(NamedTuple):
    """One coalesced request of one warp to one 128-byte line, or one fence, barrier or start.

    ``mask`` has a bit for each word of the line that the instruction touches; for
    ``BLOCK_START`` it has a bit for each warp slot, of the SM's first 32, that the block takes.
    ``lock_mask`` marks, for an atomic, the words in which a CAS changed 0 to 1 or an EXCH
    stored 0, and for ``BLOCK_START`` the other warp slots.  Fields that a kind does not use are
    0.  The port identifies the SM.
    """

    kind: int
    scope: int = 0
    strong: int = 0
    op: int = 0
    slot: int = 0
    warp: int = 0
    pc: int = 0
    line: int = 0
    mask: int = 0
    lock_mask: int = 0

    @property
    def warps(self) -> int:
        """Mask of the warp slots that a block takes, of a ``BLOCK_START``."""
        return self.lock_mask << WORDS_PER_LINE | self.mask


class Packet(NamedTuple):
    """One access of one warp to one word, or one fence.

    ``generation`` is that of the block in its slot, 0 if the configuration has no generations.
    """

    kind: int
    scope: int
    strong: int
    block: int
    warp: int
    barrier_id: int
    filter: int
    pc: int
    word: int
    generation: int = 0


class Step(NamedTuple):
    """Check of one packet by a bank: the payload of its trace port.

    ``before`` is the entry as read from memory or forwarded (not yet taken as uninitialised on a
    tag conflict, 0 after a read error); ``after`` is the entry after it.  Both are 0 for fences and
    for accesses outside the monitored region.  ``tag_conflict`` is set when the tag differs and the
    entry was initialised, so that information is lost.

    ``owner_*`` are the current fence counters of the warp named in ``before``, whether or not the
    entry is then taken as uninitialised; ``own_*`` are those of the accessing warp (after the
    increment, for a fence; also for the scope that is not incremented).  For fences and unmonitored
    accesses the ``owner_*`` fields are 0, and for unmonitored accesses ``own_*`` as well.
    """

    packet: Packet
    row: int
    preliminary: int
    race: int
    tag_conflict: int
    read_error: int
    owner_blk_fence_id: int
    owner_dev_fence_id: int
    own_blk_fence_id: int
    own_dev_fence_id: int
    before: int
    after: int
