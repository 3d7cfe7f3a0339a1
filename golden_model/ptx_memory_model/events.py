"""Events of an execution: operations as the memory model sees them.

An atomic is one event that reads and writes; an access of a vector type is one event for each
element; an asynchronous copy is a load and a store.

Ref: PTX ISA 9.0, Sections 8.2 (Memory operations) and 8.4 (Operation types).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model.scopes import Scope

#: Thread of the writes that initialise memory, which is not the program's.
INITIAL_THREAD = -1


class EventKind(Enum):
    """Kind of event; the value is its name for people."""

    INITIAL = "initial write"
    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"
    REDUCTION = "reduction"
    FENCE = "fence"
    BARRIER = "barrier"
    COMPLETION = "completion"


class Order(Enum):
    """Ordering semantics of an operation (PTX's ``.sem``); ``WEAK`` means a weak operation."""

    WEAK = "weak"
    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"
    SC = "sc"

    @property
    def acquires(self) -> bool:
        """Whether an operation of this order may end an acquire pattern."""
        return self in (Order.ACQUIRE, Order.ACQ_REL, Order.SC)

    @property
    def releases(self) -> bool:
        """Whether an operation of this order may begin a release pattern."""
        return self in (Order.RELEASE, Order.ACQ_REL, Order.SC)


class Location(NamedTuple):
    """Range of bytes of memory.

    Parameters
    ----------
    address : int
        First byte; the shared memory of every CTA has its own addresses.
    size : int
        Number of bytes.
    """

    address: int
    size: int

    @property
    def bytes(self) -> range:
        """Addresses of the bytes."""
        return range(self.address, self.address + self.size)

    def overlaps(self, other: Location) -> bool:
        """Whether both have a byte in common."""
        return (
            self.address < other.address + other.size and other.address < self.address + self.size
        )


@dataclass(frozen=True, slots=True)
class Event:
    """One operation, through the generic proxy.

    Parameters
    ----------
    kind : EventKind
        What it does.  COMPLETION waits for asynchronous operations of its thread.
    thread : int
        Thread that performs it, or ``INITIAL_THREAD``.
    order : Order
        Ordering semantics; a volatile access is RELAXED, a barrier WEAK.
    scope : Scope, optional
        Scope of a strong operation: GPU where PTX assumes it, SYS of a volatile access.
    location : Location, optional
        Bytes that a memory operation accesses.
    writes : bool
        Whether it writes: false for an atomic that results in no write (a failed CAS).
    volatile : bool
        Whether it is a ``.volatile`` access; the axioms ignore this.
    asynchronous : bool
        Whether it is asynchronous to its issuing thread, thus not in program order.
    text : str
        The instruction, for people.
    """

    kind: EventKind
    thread: int
    order: Order = Order.WEAK
    scope: Scope | None = None
    location: Location | None = None
    writes: bool = False
    volatile: bool = False
    asynchronous: bool = False
    text: str = ""

    @property
    def is_memory_operation(self) -> bool:
        """Whether it reads or writes memory."""
        return self.location is not None

    @property
    def is_atomic(self) -> bool:
        """Whether it is an atomic operation: ``atom`` or ``red``."""
        return self.kind in (EventKind.ATOMIC, EventKind.REDUCTION)

    @property
    def reads(self) -> bool:
        """Whether it takes a value from memory; a reduction does, but PTX does not call it a read
        operation."""
        return self.kind is EventKind.LOAD or self.is_atomic

    @property
    def is_strong(self) -> bool:
        """Whether it is a strong operation: a fence, or a memory operation that is not weak."""
        return self.scope is not None


def check_barrier(number: object, threads: object = None) -> None:
    """Check the operands of PTX's ``bar``, as far as they are numbers.

    Ref: PTX ISA 9.0, Section 9.7.13.1 (bar, barrier).
    """
    if isinstance(number, int) and not 0 <= number < 16:
        raise ValueError(f"Barrier must be from 0 to 15, not {number}")
    if isinstance(threads, int) and (threads <= 0 or threads % 32):
        raise ValueError(f"Threads of a barrier must be a multiple of 32, not {threads}")
