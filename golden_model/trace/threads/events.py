"""Events of a run of a program with threads, in one global order.

The order is a possible one: it keeps the order of each thread's events and of each synchronisation
object's.  The golden models of detectors for multicores consume these events.

Ref: SigRace (ISCA'09) Sections 2.1, 3.2 and 4.2.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from racetrap.golden_model.call_stacks import Frame, check_frames
from racetrap.golden_model.checks import check_integer, check_printable, check_provenance
from racetrap.golden_model.trace.container.header import Variable

#: Most bytes of one access; whoever records a longer one splits it.
MAX_ACCESS_BYTES = 16
MAX_THREADS = 1 << 10
_MOST_ADDRESS = (1 << 64) - 1
#: Races are looked for between 4-byte words: "a good choice is to use word addresses".
GRANULE_BYTES = 4
GRANULE_LOG2 = 2


class ThreadEventKind(IntEnum):
    """What happened.

    ==========================  ================================================================
    kind                        fields used besides ``kind``, ``thread``, ``pc``, ``instructions``
    ==========================  ================================================================
    LOAD, STORE                 address, size, value: frame of the innermost function
    ATOMIC_LOAD, _STORE,        address, size, value: ``MemoryOrder`` in the lowest ``ORDER_BITS``,
    _UPDATE                     the frame above
    ACQUIRE, RELEASE            address: the object; value: ``SyncClass``; ACQUIRE also size:
                                ``BOUNDED``, or 0 if it would have waited forever
    BARRIER_ARRIVE, _LEAVE      address: the barrier; value: threads that it waits for
    CREATE                      value: number of the new thread
    BEGIN, END                  none: first and last event of a thread
    JOIN                        value: number of the thread that has ended
    ALLOCATE, FREE              address; ALLOCATE also value: bytes
    COLLECT_OFF, COLLECT_ON     none: accesses between are not to be checked
    ==========================  ================================================================
    """

    LOAD = 0
    STORE = 1
    ATOMIC_LOAD = 2
    ATOMIC_STORE = 3
    ATOMIC_UPDATE = 4
    ACQUIRE = 5
    RELEASE = 6
    BARRIER_ARRIVE = 7
    BARRIER_LEAVE = 8
    CREATE = 9
    BEGIN = 10
    END = 11
    JOIN = 12
    ALLOCATE = 13
    FREE = 14
    COLLECT_OFF = 15
    COLLECT_ON = 16


#: Plain accesses, which can race with each other.
ACCESS_KINDS = frozenset({ThreadEventKind.LOAD, ThreadEventKind.STORE})
#: Atomic accesses: they never race with each other, and synchronise as their order says.
ATOMIC_KINDS = frozenset({
    ThreadEventKind.ATOMIC_LOAD, ThreadEventKind.ATOMIC_STORE, ThreadEventKind.ATOMIC_UPDATE,
})  # fmt: skip
#: Accesses that write.
WRITE_KINDS = (
    ThreadEventKind.STORE, ThreadEventKind.ATOMIC_STORE, ThreadEventKind.ATOMIC_UPDATE,
)  # fmt: skip


class MemoryOrder(IntEnum):
    """Order of an atomic access, simplified (consume is acquire, seq_cst acq_rel)."""

    RELAXED = 0
    ACQUIRE = 1
    RELEASE = 2
    ACQ_REL = 3


#: Bits of an atomic access's value that hold its order.
ORDER_BITS = (len(MemoryOrder) - 1).bit_length()


class SyncClass(IntEnum):
    """Class of a synchronisation object; it decides how timestamps merge."""

    MUTEX = 0
    RWLOCK_READ = 1
    RWLOCK_WRITE = 2
    CONDITION = 3
    SEMAPHORE = 4
    FLAG = 5  # set and waited for: pthread_once and the like


#: An ACQUIRE that cannot wait forever: an attempt (``trylock``), or a wait with a time limit.
BOUNDED = 1


class ThreadEvent(NamedTuple):
    """One event; fields that its kind does not use are 0.

    Parameters
    ----------
    kind : int
        ``ThreadEventKind``.
    thread : int
        Number of the thread, in the order of creation; the first is 0.
    address : int
        Byte address, or the object's.
    size : int
        Bytes accessed, 1 to ``MAX_ACCESS_BYTES``; of an ACQUIRE ``BOUNDED`` or 0.
    value : int
        See ``ThreadEventKind``.
    pc : int
        Program counter, 32 bits; 0 if not known.
    instructions : int
        Instructions that the thread has committed since its event before, this one included.
    """

    kind: int
    thread: int
    address: int = 0
    size: int = 0
    value: int = 0
    pc: int = 0
    instructions: int = 0


@dataclass(frozen=True, kw_only=True)
class ThreadTraceHeader:
    """Header of a trace of threads.

    Parameters
    ----------
    system : str
        Detector that the events are meant for: always ``"sigrace"``.
    threads : int
        Threads of the program.
    source : str
        Where the trace comes from, for people: one line of printable characters.
    seed : int or None
        Seed of a random trace, up to 64 bits.
    locations : mapping of int to str
        Place in the source (``"file.c:12"``) of a PC; PCs may be missing.
    variables : mapping of int to Variable
        Static variables by address, as far as they are known.
    frames : mapping of int to Frame
        Functions on the stacks of accesses, by number from 1.

    Raises
    ------
    TypeError, ValueError
        If a value has the wrong type or is out of range.
    """

    system: str = "sigrace"
    threads: int
    source: str = ""
    seed: int | None = None
    locations: Mapping[int, str] = field(default_factory=dict, hash=False)
    variables: Mapping[int, Variable] = field(default_factory=dict, hash=False)
    frames: Mapping[int, Frame] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.system != "sigrace":
            raise ValueError(f"Trace system must be 'sigrace', not {self.system!r}")
        check_integer("Trace threads", self.threads, 1, MAX_THREADS)
        check_provenance(self.source, self.seed, self.locations)
        for address, (size, name) in self.variables.items():
            check_integer("Address of a variable", address, 0, _MOST_ADDRESS)
            check_integer(f"Size of variable {address:#x}", size, 1, _MOST_ADDRESS)
            check_printable(f"Name of variable {address:#x}", name)
        check_frames(self.frames)

    def variables_at(self, address: int) -> dict[int, Variable]:
        """Variables with a byte in the granule at an address, by their own addresses."""
        starts, ends = self._extents
        found = {}
        last = bisect_left(starts, address + GRANULE_BYTES)
        # Variables before the first one that ends after the address cannot reach it.
        for first in starts[bisect_right(ends, address, hi=last) : last]:
            if first + self.variables[first].size > address:
                found[first] = self.variables[first]
        return found

    @cached_property
    def _extents(self) -> tuple[list[int], list[int]]:
        """Starts of the variables, ascending, and the running maximum of their ends."""
        starts = sorted(self.variables)
        ends = accumulate((first + self.variables[first].size for first in starts), max)
        return starts, list(ends)


_RELEASES = frozenset({
    ThreadEventKind.RELEASE, ThreadEventKind.BARRIER_ARRIVE, ThreadEventKind.CREATE,
    ThreadEventKind.END,
})  # fmt: skip
_ACQUIRES = frozenset({
    ThreadEventKind.ACQUIRE, ThreadEventKind.BARRIER_LEAVE, ThreadEventKind.BEGIN,
    ThreadEventKind.JOIN,
})  # fmt: skip


def releases(kind: int, value: int) -> bool:
    """Whether an event releases: others can be ordered after it."""
    if kind in (ThreadEventKind.ATOMIC_STORE, ThreadEventKind.ATOMIC_UPDATE):
        return bool(value & MemoryOrder.RELEASE)
    return kind in _RELEASES


def frame_of(kind: Any, value: Any) -> Any:
    """Frame of the innermost function of an access, or of each of an array of them."""
    return value >> ORDER_BITS * (kind > ThreadEventKind.STORE)


def acquires(kind: int, value: int, thread: int) -> bool:
    """Whether an event acquires: its thread can be ordered after others."""
    if kind in (ThreadEventKind.ATOMIC_LOAD, ThreadEventKind.ATOMIC_UPDATE):
        return bool(value & MemoryOrder.ACQUIRE)
    # The first thread has no creator.
    return kind in _ACQUIRES and (kind, thread) != (ThreadEventKind.BEGIN, 0)


def epoch_steps(kind: int, value: int, thread: int = 1) -> int:
    """Epochs by which an event advances its thread: its ``sync_reached`` count.

    A release-type event steps before its operation, an acquire-type event after it; an update of an
    atomic with both orders does both.  The epoch of an access is the sum of the steps of its
    thread's earlier events.

    Parameters
    ----------
    kind, value : int
        Of the event; see ``ThreadEvent``.
    thread : int
        Thread of the event: the BEGIN of thread 0, which has no creator, is no step.

    Returns
    -------
    int
        0, 1 or 2.

    Ref: SigRace (ISCA'09) Section 4.2.
    """
    return releases(kind, value) + acquires(kind, value, thread)


def bytes_used(granule: int, address: int, size: int) -> int:
    """Bytes of a granule (its byte address) that an access touches, a bit for each."""
    low, high = max(address - granule, 0), min(address + size - granule, GRANULE_BYTES)
    return (1 << high) - (1 << low)
