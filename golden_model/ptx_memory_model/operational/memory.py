"""Memory of threads: what a memory model must answer, and the sequentially consistent one.

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
    """How an operation synchronises.

    Parameters
    ----------
    order : Order
        Ordering semantics; of a volatile access RELAXED.
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
        """Settle it, if need be: its value."""


def settled(value: int | Pending) -> int:
    """The number that a value is, or is settled to."""
    return value if isinstance(value, int) else value.settle()


class Memory:
    """Memory that threads access by one model; as it stands here, each operation takes effect at
    once.

    Parameters
    ----------
    memory : ByteMemory
        What it holds before, and, of each location, what came last.
    places : sequence of Place
        Where each thread runs.
    choices : Choices
        Takes the choices that the model leaves open.
    """

    def __init__(self, memory: ByteMemory, places: Sequence[Place], choices: Choices) -> None:
        self.memory, self.places, self.choices = memory, places, choices
        #: Who does what, for the stories of choices; its text is asked for when it is told.
        self.origin: object = ""
        #: Takes what the run does, if it is asked whether it is sequentially consistent.
        self.execution: Execution | None = None

    def _told(self, what: str) -> Callable[[int], Story]:
        """Story of a choice that has one other option."""
        return lambda _: Story(self.origin, what)

    @property
    def now(self) -> Moment:
        """Moment of the latest of all writes so far."""
        return 0.0, 0.0

    def read_newest(self, thread: int, location: Location) -> None:
        """A thread has read what memory holds."""
        if self.execution is not None:
            self.execution.add(thread, location).reads = self.now

    def load(
        self, thread: int, location: Location, strength: Strength, may_wait: bool = False
    ) -> int | Pending:
        """Value that a load takes; if it ``may_wait``, perhaps a value that is settled later."""
        return self.memory.read(location)

    def store(
        self, thread: int, location: Location, value: int | Pending, strength: Strength
    ) -> None:
        """A store of a number, or of what a load of the same size is settled to."""
        self.memory.write(location, settled(value))

    def atomic(
        self, thread: int, location: Location, update: Callable[[int], int | None],
        strength: Strength, returns: bool = True,
    ) -> int:  # fmt: skip
        """Value before an atomic; ``update`` gives the one behind it, or ``None`` if it does not
        write.  A reduction (not ``returns``) acquires nothing."""
        old = self.memory.read(location)
        new = update(old)
        if new is not None:
            self.memory.write(location, new)
        return old

    def fence(self, thread: int, order: Order, scope: Scope) -> None:
        """A fence."""

    def arrive(self, thread: int) -> object:
        """A thread arrives at a barrier; what it gives to those that leave it."""
        return None

    def merged(self, given: Sequence[object]) -> Sequence[object]:
        """What a barrier's threads have given, in as few pieces as may be."""
        return given

    def leave(self, thread: int, given: Sequence[object]) -> None:
        """A thread leaves a barrier at which others have given what ``arrive`` returned."""

    def end(self, thread: int) -> None:
        """A thread ends."""

    def holds(self, thread: int) -> bool:
        """Whether the end of a thread makes something visible that is not yet."""
        return False

    def drain(self) -> None:
        """All threads wait, for what others may have held back: make it visible."""

    def key(self) -> Hashable:
        """State without what ``ByteMemory`` holds; equal states go on alike."""
        return None


class Sequential(Memory):
    """Sequentially consistent memory: each operation takes effect at once."""
