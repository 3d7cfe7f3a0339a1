"""Vocabulary of HiRace's streams: transactions, packets, steps and race kinds.

These enumerations are the encodings on the wires; the RTL imports them.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from racetrap.golden_model.hirace.states import Access, Family, State


class TransactionKind(IntEnum):
    """Kind of transaction from an SM to its tracker."""

    LOAD = 0
    STORE = 1
    ATOMIC = 2
    WARP_BARRIER = 3
    BARRIER = 4
    BLOCK_START = 5


class PacketKind(IntEnum):
    """Kind of packet from a tracker to the detector banks (codes as for transactions)."""

    LOAD = 0
    STORE = 1
    ATOMIC = 2


class RaceKind(IntEnum):
    """Kind of race: the access and the one before it."""

    NONE = 0
    READ_AFTER_WRITE = 1
    WRITE_AFTER_READ = 2
    WRITE_AFTER_WRITE = 3
    PLAIN_AFTER_ATOMIC = 4
    ATOMIC_AFTER_PLAIN = 5
    SCOPED_ATOMIC = 6


#: States in which the last accesses were atomics.
AFTER_ATOMICS = frozenset({Family.BLOCK_ATOMIC, Family.GRID_ATOMIC, Family.SYNC_ATOMIC})


def race_kind(state: State, access: Access) -> RaceKind:
    """Kind of race of an access to a word in this state."""
    is_atomic = access in (Access.BLOCK_ATOMIC, Access.GRID_ATOMIC)
    if state.form.family in AFTER_ATOMICS:
        return RaceKind.SCOPED_ATOMIC if is_atomic else RaceKind.PLAIN_AFTER_ATOMIC
    if is_atomic:
        return RaceKind.ATOMIC_AFTER_PLAIN
    if access == Access.READ:
        return RaceKind.READ_AFTER_WRITE
    if state == State.WRITE:
        return RaceKind.WRITE_AFTER_WRITE
    return RaceKind.WRITE_AFTER_READ


class Transaction(NamedTuple):
    """One lane's access to one to four words in a row, one barrier, or the start of a block.

    ``more`` is the number of words after the first.  ``shared`` is set for shared memory, where
    addresses count from the block's first byte.  Fields that a kind does not use are 0.  The port
    identifies the SM.
    """

    kind: int
    scope: int = 0
    shared: int = 0
    slot: int = 0
    warp: int = 0
    lane: int = 0
    pc: int = 0
    word: int = 0
    more: int = 0


class Packet(NamedTuple):
    """One access of one lane to one word, with its thread's counts."""

    kind: int
    scope: int
    shared: int
    lane: int
    warp: int
    block: int
    generation: int
    barriers: int
    warp_barriers: int
    pc: int
    word: int


def access_of(packet: Packet) -> Access:
    """Access of a packet to its word."""
    return Access(packet.kind + packet.scope)


class Step(NamedTuple):
    """Check of one packet by a bank: the payload of its trace port.

    ``before`` is the entry as read from memory or forwarded, 0 after a read error; ``after`` is the
    entry after it; ``sync`` and ``relation`` compare the packet with ``before``, whatever its
    state.  All of them are 0 for an access that is not monitored.
    """

    packet: Packet
    monitored: int
    sync: int
    relation: int
    race: int
    read_error: int
    before: int
    after: int
