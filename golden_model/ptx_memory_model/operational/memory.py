"""Memory of threads: interface of memory models, and the sequentially consistent one.

Ref: PTX ISA 9.0, Sections 8.4 (Operation types) and 8.5 (Scope).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model.events import Location, Order
from racetrap.golden_model.ptx_memory_model.operational.choices import Choices, Story
from racetrap.golden_model.ptx_memory_model.operational.execution import Execution, Moment
from racetrap.golden_model.ptx_memory_model.scopes import Place, Scope, includes


class Strength(NamedTuple):
    """Synchronisation strength of an operation.

    Parameters
    ----------
    order : Order
        Ordering semantics; RELAXED for a volatile access.
    scope : Scope, optional
        Scope of a strong operation.
    """

    order: Order
    scope: Scope | None


WEAK = Strength(Order.WEAK, None)


def mutual(one: Scope | None, here: Place, other: Scope | None, there: Place) -> bool:
    """Whether two strong operations include each other's threads."""
    return (
        one is not None
        and other is not None
        and includes(one, here, there)
        and includes(other, there, here)
    )


class ByteMemory(ABC):
    """Numbers of any size in a range of bytes."""

    @abstractmethod
    def read(self, location: Location) -> int:
        """The number at a location."""

    @abstractmethod
    def write(self, location: Location, number: int) -> None:
        """Change the number at a location."""


class Pending(ABC):
    """A load whose value is settled later."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Bytes that it loads."""

    @property
    @abstractmethod
    def is_settled(self) -> bool:
        """Whether its value is settled by now."""

    @property
    @abstractmethod
    def is_stored(self) -> bool:
        """Whether a store has taken it."""

    @abstractmethod
    def settle(self) -> int:
        """Settle it if necessary; return its value."""


def settled(value: int | Pending) -> int:
    """The number of a value, settled if necessary."""
    return value if isinstance(value, int) else value.settle()


class Memory:
    """Memory of threads by some model; in this base class each operation takes effect at once.

    Parameters
    ----------
    memory : ByteMemory
        Initial contents, then the newest value of each location.
    places : sequence of Place
        Where each thread runs.
    choices : Choices
        Takes the choices that the model leaves open.
    """

    def __init__(self, memory: ByteMemory, places: Sequence[Place], choices: Choices) -> None:
        self.memory, self.places, self.choices = memory, places, choices
        #: Operation in progress, for the stories of choices; converted to text on demand.
        self.origin: object = ""
        #: Records the run, if sequential consistency is to be checked.
        self.execution: Execution | None = None

    def _told(self, what: str) -> Callable[[int], Story]:
        """Story of a choice that has one other option."""
        return lambda _: Story(self.origin, what)

    @property
    def now(self) -> Moment:
        """Moment of the latest of all writes so far."""
        return 0.0, 0.0

    def read_newest(self, thread: int, location: Location) -> None:
        """Record that a thread has read the newest value."""
        if self.execution is not None:
            self.execution.add(thread, location).reads = self.now

    def load(
        self, thread: int, location: Location, strength: Strength, may_wait: bool = False
    ) -> int | Pending:
        """Value of a load; if it ``may_wait``, possibly one that is settled later."""
        return self.memory.read(location)

    def store(
        self, thread: int, location: Location, value: int | Pending, strength: Strength
    ) -> None:
        """Store a number, or the later value of a load of the same size."""
        self.memory.write(location, settled(value))

    def atomic(
        self, thread: int, location: Location, update: Callable[[int], int | None],
        strength: Strength, returns: bool = True,
    ) -> int:  # fmt: skip
        """Value before an atomic; ``update`` returns the one after it, or ``None`` if it does not
        write.  A reduction (not ``returns``) acquires nothing."""
        old = self.memory.read(location)
        new = update(old)
        if new is not None:
            self.memory.write(location, new)
        return old

    def fence(self, thread: int, order: Order, scope: Scope) -> None:
        """Execute a fence."""

    def arrive(self, thread: int) -> object:
        """Arrive at a barrier; return what the thread passes to those that leave it."""
        return None

    def arrive_relaxed(self, thread: int) -> object:
        """Arrive at the barrier of a cluster without a release: what fences have released is passed
        alone; ``None`` if there is nothing."""
        return None

    def merged(self, given: Sequence[object]) -> Sequence[object]:
        """What a barrier's threads have passed, merged."""
        return given

    def leave(self, thread: int, given: Sequence[object]) -> None:
        """Leave a barrier, with what ``arrive`` returned for the others."""

    def end(self, thread: int) -> None:
        """End a thread."""

    def holds(self, thread: int) -> bool:
        """Whether the end of a thread makes pending stores visible."""
        return False

    def drain(self) -> None:
        """Make held stores visible, since all threads wait."""

    def key(self) -> Hashable:
        """State without the contents of ``ByteMemory``; equal states have equal continuations."""
        return None


class Sequential(Memory):
    """Sequentially consistent memory: each operation takes effect at once."""
