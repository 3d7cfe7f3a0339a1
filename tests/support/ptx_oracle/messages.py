"""Messages: what a write makes known to the reads that observe it, and who has observed it.

Ref: PTX ISA 9.0, Sections 8.8 (Release and Acquire Patterns) and 8.9.2 (Observation Order).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from racetrap.golden_model.barracuda.compressed import NOTHING, Knowledge, join_all
from racetrap.golden_model.barracuda.sync import Published
from racetrap.golden_model.events import EventScope

#: How far a scope reaches, and how far apart two threads are: block, cluster, device.
IN_BLOCK, IN_CLUSTER, ON_DEVICE = range(3)
REACHES = {EventScope.BLOCK: IN_BLOCK, EventScope.CLUSTER: IN_CLUSTER, EventScope.DEVICE: ON_DEVICE}


class Team(NamedTuple):
    """Block of a thread, and the first block of its cluster."""

    block: int
    cluster: int

    def distance(self, other: Team) -> int:
        """How far apart threads of the two are."""
        if self.block == other.block:
            return IN_BLOCK
        return IN_CLUSTER if self.cluster == other.cluster else ON_DEVICE


class Source(NamedTuple):
    """What decides whether an access is morally strong relative to others.

    Parameters
    ----------
    location : tuple of int
        First byte, apart for each block's shared memory, and size.
    team : Team
        Of its thread.
    is_strong : bool
        Whether it is a strong operation.
    reach : int
        Of its scope.
    is_volatile : bool
        Whether it is a volatile load or store.
    """

    location: tuple[int, int]
    team: Team
    is_strong: bool
    reach: int
    is_volatile: bool

    def is_morally_strong_with(self, other: Source) -> bool:
        """Whether both are morally strong, if they are of different threads."""
        if not (self.is_strong and other.is_strong and self.location == other.location):
            return False
        return min(self.reach, other.reach) >= self.team.distance(other.team)


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
    parts : dict of (Team, int) to Knowledge
        What threads of a team have released at a reach.
    """

    __slots__ = ("parts",)

    def __init__(self) -> None:
        self.parts: dict[tuple[Team, int], Knowledge] = {}

    def to(self, team: Team, reach: int) -> Knowledge:
        """What threads of a team acquire at a reach: both scopes must include the other thread."""
        return join_all(
            known for (other, own), known in self.parts.items()
            if min(own, reach) >= other.distance(team)
        )  # fmt: skip

    def release(self, team: Team, known: Published, reach: int) -> None:
        """Add what a thread of a team releases."""
        self.parts[team, reach] = known.join(self.parts.get((team, reach), NOTHING))

    def add(self, other: Released) -> None:
        """Add what another write has released."""
        for key, known in other.parts.items():
            self.parts[key] = self.parts.get(key, NOTHING).join(known)


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
