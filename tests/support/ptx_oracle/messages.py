"""Messages: what a write makes known to the reads that observe it, and who has observed it.

Ref: PTX ISA 9.0, Sections 8.8 (Release and Acquire Patterns) and 8.9.2 (Observation Order).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from racetrap.golden_model.barracuda.compressed import NOTHING, Knowledge
from racetrap.golden_model.barracuda.sync import Published


class Source(NamedTuple):
    """What decides whether an access is morally strong relative to others.

    Parameters
    ----------
    location : tuple of int
        First byte, apart for each block's shared memory, and size.
    block : int
        Block of its thread.
    is_strong : bool
        Whether it is a strong operation.
    is_device : bool
        Whether its scope includes other blocks.
    is_volatile : bool
        Whether it is a volatile load or store.
    """

    location: tuple[int, int]
    block: int
    is_strong: bool
    is_device: bool
    is_volatile: bool

    def is_morally_strong_with(self, other: Source) -> bool:
        """Whether both are morally strong, if they are of different threads."""
        if not (self.is_strong and other.is_strong and self.location == other.location):
            return False
        return self.block == other.block or (self.is_device and other.is_device)


class Access(NamedTuple):
    """One lane of an access.

    Parameters
    ----------
    row : int
        Row of its event.
    warp, lane : int
        Its thread.
    pc : int
        Its program counter.
    instruction : int
        Row of the warp's instruction: lanes of one do not race by it.
    """

    row: int
    warp: int
    lane: int
    pc: int
    instruction: int

    @property
    def thread(self) -> tuple[int, int]:
        """Its thread."""
        return self.warp, self.lane

    def is_apart_from(self, other: Access) -> bool:
        """Whether both are of different threads and instructions."""
        return self.thread != other.thread and self.instruction != other.instruction


class Released:
    """Knowledge that release patterns have attached to a write, by what their scope includes.

    Attributes
    ----------
    for_all : Knowledge
        Released at device scope.
    for_block : dict of int to Knowledge
        Released by a thread of each block, at any scope.
    """

    __slots__ = ("for_all", "for_block")

    def __init__(self) -> None:
        self.for_all: Knowledge = NOTHING
        self.for_block: dict[int, Knowledge] = {}

    def of_block(self, block: int) -> Knowledge:
        """What threads of a block have released."""
        return self.for_block.get(block, NOTHING)

    def release(self, block: int, known: Published, is_device: bool) -> None:
        """Add what a thread of a block releases."""
        self.for_block[block] = known.join(self.of_block(block))
        if is_device:
            self.for_all = known.join(self.for_all)

    def add(self, other: Released) -> None:
        """Add what another write has released."""
        self.for_all = self.for_all.join(other.for_all)
        for block, known in other.for_block.items():
            self.for_block[block] = self.of_block(block).join(known)


class Message:
    """A write.

    Parameters
    ----------
    access : Access
        The write.
    source : Source
        What it is.
    last : Message, optional
        What it comes right behind in coherence order, if that is known.

    Attributes
    ----------
    released : Released
        What its release patterns, and those of the writes that it hands on, make known.
    observers : list of Access
        Reads that observe it directly.
    successor : Message, optional
        The atomic that observes it and hands it on.
    overwritten : tuple of Message
        Of a volatile store those of its thread that it comes right behind in coherence order, one
        after the other; of each program counter the latest.
    past, preceding : Knowledge
        What it communicates, and what the writes do that precede it in coherence order, with it.
    """

    __slots__ = (
        "access", "observers", "overwritten", "past", "preceding", "released", "source",
        "successor",
    )  # fmt: skip

    def __init__(self, access: Access, source: Source, last: Message | None = None) -> None:
        self.access, self.source = access, source
        self.overwritten = last.overwritten_by(self) if last is not None else ()
        self.released = Released()
        self.observers: list[Access] = []
        self.successor: Message | None = None
        self.past = self.preceding = NOTHING

    def overwritten_by(self, later: Message) -> tuple[Message, ...]:
        """What a write overwrites that comes right behind it in coherence order."""
        is_own = self.access.thread == later.access.thread
        both_volatile = self.source.is_volatile and later.source == self.source
        if not (is_own and both_volatile):
            return ()
        older = (each for each in self.overwritten if each.access.pc != self.access.pc)
        return tuple(each for each in (*older, self) if each.access.pc != later.access.pc)

    def is_observed_by(self, access: Access, source: Source) -> bool:
        """Whether a read that takes its value observes it: the two are morally strong, as those
        of one thread are, weak or not; of a weak read nothing follows."""
        if access.thread == self.access.thread:
            return source.is_strong and source.location == self.source.location
        return source.is_morally_strong_with(self.source)

    def all_observers(self) -> Iterator[Access]:
        """Reads that observe it, directly or through atomics."""
        message: Message | None = self
        while message is not None:
            yield from message.observers
            message = message.successor
