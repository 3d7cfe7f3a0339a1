"""Vocabulary of SigRace's streams: core events, messages, steps, conflicts and traps.

These enumerations are the encodings on the wires; the RTL imports them.

Ref: SigRace (ISCA'09) Sections 3.2 and 4, Fig. 5, Table 1.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import NamedTuple


class CoreOp(IntEnum):
    """Event of a core for its unit.

    ===============  ========================================================================
    op               fields used besides ``op`` and ``instructions``
    ===============  ========================================================================
    LOAD, STORE      data: byte address; size: bytes, 1 to 16; pc
    INSTRUCTIONS     none: instructions without an access have committed
    COLLECT_ON, OFF  none (Table 1)
    SYNC_REACHED     none (Table 1)
    TS_WRITE         index: counter; data: value (the library's GenerateTS)
    SWITCH_OUT       none: the thread leaves; its block ends
    SWITCH_IN        index: SigRaceID of the thread that runs from now on
    MODE             data: bits 1..0 ``Mode``, bit 2 the CT flag
    TRT_WRITE        index: counter; data: value
    CONFLICT_WRITE   index: 32-bit word of the Conflict Signature; data: its bits
    RESET            none: a program starts; all but the sequence number is cleared
    ===============  ========================================================================
    """

    LOAD = 0
    STORE = 1
    INSTRUCTIONS = 2
    COLLECT_ON = 3
    COLLECT_OFF = 4
    SYNC_REACHED = 5
    TS_WRITE = 6
    SWITCH_OUT = 7
    SWITCH_IN = 8
    MODE = 9
    TRT_WRITE = 10
    CONFLICT_WRITE = 11
    RESET = 12


class Mode(IntEnum):
    """Operation Mode (OM)."""

    NORMAL = 0
    REEXECUTION = 1
    ANALYSIS = 2


class Cause(IntEnum):
    """Cause of the end of a block."""

    NONE = 0
    LIMIT = 1  # block_instructions have committed
    SYNC = 2  # sync_reached
    SWITCH = 3  # the thread leaves the core
    FULL = 4  # one more USB value than a set holds


class Relation(IntEnum):
    """Outcome of the comparison of an entry's timestamp with a message's."""

    PRECEDES = 0  # the entry happened before the message
    FOLLOWS = 1  # the message happened before the entry (it came late)
    UNORDERED = 2


class Conflict(IntFlag):
    """Intersections that are not null; the message's signature is named first."""

    NONE = 0
    READ_WRITE = 1
    WRITE_READ = 2
    WRITE_WRITE = 4


class Drop(IntEnum):
    """Reason why the RDM dropped a message; the first that holds counts."""

    NONE = 0
    MALFORMED = 1  # not decodable: wrong length, form or code
    UNMAPPED = 2  # core or context wrong, or no thread on it
    THREAD = 3  # SigRaceID out of range, or not the one that CoreToThread has
    SEQUENCE = 4  # not the next of its context


class RdmStepKind(IntEnum):
    """Kind of a step of the RDM."""

    COMPARE = 0
    PUSH = 1
    DROP = 2


class CoreEvent(NamedTuple):
    """One event of a core; fields that its op does not use are 0.

    ``instructions`` have committed since the event before, this one included.
    """

    op: int
    data: int = 0
    size: int = 0
    index: int = 0  # type: ignore[assignment]
    instructions: int = 0
    pc: int = 0


class CoreStep(NamedTuple):
    """An event taken by a core unit, and the unit's state after it.

    Parameters
    ----------
    event : CoreEvent
        The event.
    collecting : int
        Whether addresses are collected.
    counter : int
        Committed Instruction Counter.
    thread : int
        SigRaceID.
    own : int
        The thread's own counter of its timestamp.
    read_values, write_values : int
        USB values in the read and the write set (form ``sets``; otherwise 0).
    sent : int
        Summary messages that the event made.
    cause : int
        ``Cause`` of the last block that the event ended, sent or empty; NONE if it ended none.
    traps : int
        Trap records that the event made.
    saturated : int
        Whether a counter of the timestamp has been saturated since the last RESET.
    """

    event: CoreEvent
    collecting: int
    counter: int
    thread: int
    own: int
    read_values: int
    write_values: int
    sent: int
    cause: int
    traps: int
    saturated: int


class Summary(NamedTuple):
    """A Summary message after decompression; ``timestamp`` has a counter for each thread."""

    core: int
    context: int
    thread: int
    sequence: int
    cause: int
    timestamp: tuple[int, ...]
    read: int
    write: int
    is_malformed: int = 0


class RdmStep(NamedTuple):
    """One comparison of a message with an entry (COMPARE), or its end (PUSH, DROP).

    Parameters
    ----------
    kind : int
        ``RdmStepKind``.
    core, context, thread, sequence, cause : int
        Header of the message, as received.
    other, position : int
        COMPARE: thread whose queue is searched, and the entry's age (0 is the newest).
    relation, conflict : int
        COMPARE: ``Relation``, and ``Conflict`` (NONE unless unordered).
    drop : int
        DROP: ``Drop``.
    lost : int
        PUSH: a bit for each thread whose full queue held no predecessor.
    digest : int
        PUSH: XOR of all 32-bit words of timestamp, then read, then write signature, each
        padded with zeros to whole words.
    """

    kind: int
    core: int
    context: int
    thread: int
    sequence: int
    cause: int
    other: int = 0
    position: int = 0
    relation: int = 0
    conflict: int = 0
    drop: int = 0
    lost: int = 0
    digest: int = 0


class BlockName(NamedTuple):
    """A block by the core unit that has sent it, and its number among those of the unit."""

    core: int
    context: int
    number: int


class LogEntry(NamedTuple):
    """An entry of the conflict log: the conflicting blocks, and the union of the non-null ANDs.

    ``block`` and ``other_block`` are their names, for who looks them up in address rings.
    """

    thread: int
    other: int
    conflict: int
    thread_timestamp: tuple[int, ...]
    other_timestamp: tuple[int, ...]
    signature: int
    block: BlockName | None = None
    other_block: BlockName | None = None


class Trap(NamedTuple):
    """An access of a conflicting thread that hit its Conflict Signature (granule's address)."""

    address: int
    pc: int
    is_write: int
