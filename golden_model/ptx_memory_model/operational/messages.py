"""Messages and views: the state of a memory with views.

Ref: Kang et al., "A Promising Semantics for Relaxed-Memory Concurrency" (POPL'17).
"""

from __future__ import annotations

from collections.abc import Callable

from racetrap.golden_model.ptx_memory_model.events import INITIAL_THREAD, Location
from racetrap.golden_model.ptx_memory_model.operational.execution import Moment, Operation
from racetrap.golden_model.ptx_memory_model.operational.memory import (
    WEAK,
    Pending,
    Strength,
    settled,
)
from racetrap.golden_model.ptx_memory_model.scopes import Scope


class Message:
    """A write to a location.

    Parameters
    ----------
    cell : Cell
        The location's messages.
    rank : float
        Its position among them.
    value : int or Late
        Value written, or the load whose value it will be.
    thread, time : int
        Thread that wrote it, and its number among the thread's messages, from 1.
    strength : Strength
        How.
    source : Message, optional
        Message that the atomic read which wrote this one.
    """

    __slots__ = (
        "cell", "origin", "rank", "releases", "source", "strength", "thread", "time", "value",
    )  # fmt: skip

    def __init__(
        self, cell: Cell, rank: float, value: int | Late, thread: int, time: int,
        strength: Strength, source: Message | None = None, origin: object = "",
    ) -> None:  # fmt: skip
        self.cell, self.rank, self.value, self.origin = cell, rank, value, origin
        self.thread, self.time, self.strength, self.source = thread, time, strength, source
        #: Views that acquires observing it join, by thread and scope of the release.
        self.releases: dict[tuple[int, Scope], View] = {}

    @property
    def moment(self) -> Moment:
        """Its position in coherence order."""
        return self.cell.number, self.rank

    @property
    def number(self) -> int:
        """Number written; settles the load if it is one."""
        return settled(self.value)

    def depends_on(self, late: Late) -> bool:
        """Whether the value depends on a load, directly or through others."""
        value: int | Late | None = self.value
        while isinstance(value, Late):
            if value is late:
                return True
            value = None if value.message is None else value.message.value
        return False


class Cell:
    """Messages of one location, oldest first.

    Parameters
    ----------
    location : Location
        The location.
    value : int
        Value before the first message.
    number : int
        Number among the cells of a memory: overlapping ones replace each other in this order.
    """

    __slots__ = ("location", "messages", "number")

    def __init__(self, location: Location, value: int, number: int) -> None:
        self.location, self.number = location, number
        self.messages = [Message(self, 0.0, value, INITIAL_THREAD, 0, WEAK)]


class View:
    """View: what precedes an operation in causality order.

    Parameters
    ----------
    times : dict of int to int
        For each thread, how many of its messages precede.
    newest : dict of Cell to Message
        Newest message of a location that precedes by itself, not through ``times``.
    late : set of Late
        Loads that precede it and were, or are to be, settled late.
    """

    __slots__ = ("copies", "late", "newest", "number", "times")

    def __init__(
        self, times: dict[int, int], newest: dict[Cell, Message], late: set[Late], number: int = 0
    ) -> None:
        self.times, self.newest, self.late = times, newest, late
        #: Number among the copies of a view, each of which includes earlier ones; number of copies.
        self.number, self.copies = number, 0

    def copy(self) -> View:
        """A copy."""
        self.fold()
        self.copies += 1
        return View(dict(self.times), dict(self.newest), set(self.late), self.copies)

    def fold(self) -> None:
        """Include the messages of late loads that are settled by now."""
        for late in [late for late in self.late if late.message is not None]:
            self.late.discard(late)
            if late.observes:
                assert late.message is not None
                self.include(late.message)

    def include(self, message: Message) -> None:
        """Include a message that was read."""
        known = self.newest.get(message.cell)
        if known is None or known.rank < message.rank:
            self.newest[message.cell] = message

    def join(self, other: View) -> None:
        """Join another view."""
        times = self.times
        for thread, time in other.times.items():
            if times.get(thread, 0) < time:
                times[thread] = time
        for message in other.newest.values():
            self.include(message)
        self.late |= other.late

    def rank(self, cell: Cell) -> float:
        """Rank of the newest message of a location that precedes."""
        known = self.newest.get(cell)
        rank, get = 0.0 if known is None else known.rank, self.times.get
        for message in reversed(cell.messages):
            if message.rank <= rank or get(message.thread, 0) >= message.time > 0:
                return max(rank, message.rank)
        return rank


class Late(Pending):
    """A load that is settled late.

    Parameters
    ----------
    thread : int
        Its thread.
    cell : Cell
        Messages of its location.
    strength : Strength
        How.
    lowest : float
        Rank of the oldest message that it may take.
    origin : object
        Operation, for stories.
    settle : callable
        Assigns it one of the messages.
    """

    def __init__(
        self, thread: int, cell: Cell, strength: Strength, lowest: float, origin: object,
        settle: Callable[[Late], None],
    ) -> None:  # fmt: skip
        self.thread, self.cell = thread, cell
        self.strength, self.lowest = strength, lowest
        self.origin, self._settle = origin, settle
        #: Highest rank, if it takes a morally strong message: later operations have been executed.
        self.highest = float("inf")
        #: Later messages, which it cannot take.
        self.excluded: set[Message] = set()
        #: Scopes of acquires that it is part of: it must observe no release of theirs.
        self.passed: set[Scope] = set()
        if strength.order.acquires and strength.scope is not None:
            self.passed.add(strength.scope)
        self.message: Message | None = None
        #: Whether it and its message are morally strong.
        self.observes = False
        #: Its operation in the run's execution, if that is kept.
        self.operation: Operation | None = None
        #: Messages whose value depends on it.
        self.written: list[Message] = []

    @property
    def size(self) -> int:
        return self.cell.location.size

    @property
    def is_settled(self) -> bool:
        return self.message is not None

    @property
    def is_stored(self) -> bool:
        return bool(self.written)

    def settle(self) -> int:
        if self.message is None:
            self._settle(self)
        assert self.message is not None
        return self.message.number
