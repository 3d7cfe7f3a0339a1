"""Races and barrier divergences: the result of an oracle.

Ref: BARRACUDA (PLDI'17) Sections 3.3 and 4.3.3; ScoRD (ISCA'20) Section II.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import NamedTuple, overload

from racetrap.golden_model.events import EventKind, Space


class RaceClass(Enum):
    """Relation of the two threads of a race: in one warp, block or grid, or in two concurrent
    kernels or copies."""

    DIVERGENCE = "divergence"
    INTRA_BLOCK = "intra-block"
    INTER_BLOCK = "inter-block"
    INTER_LAUNCH = "inter-launch"


class RaceKind(Enum):
    """What makes two accesses a race."""

    UNORDERED = "unordered"
    SAME_INSTRUCTION = "same-instruction"
    SCOPED_ATOMIC = "scoped-atomic"
    NOT_STRONG = "not-strong"
    UNORDERED_STRONG = "unordered-strong"


class Missing(StrEnum):
    """What two racing accesses lack; values are for files."""

    RELEASE = "release"
    ACQUIRE = "acquire"
    SCOPE = "scope"
    BARRIER = "barrier"
    WARP_BARRIER = "warp-barrier"
    CLUSTER_BARRIER = "cluster-barrier"
    UNEQUAL_STORE = "unequal-store"
    STRONG_ACCESS = "strong-access"
    STREAM_ORDER = "stream-order"

    @property
    def reason(self) -> str:
        """Why the two accesses race, as a clause."""
        return _CLAUSES[self]


_CLAUSES = {
    Missing.RELEASE: "no release of this scope follows the earlier access",
    Missing.ACQUIRE: "no acquire of what the earlier thread released precedes the later access",
    Missing.SCOPE: "the scope is too narrow for the two threads",
    Missing.BARRIER: "no barrier of the block lies between them",
    Missing.WARP_BARRIER: "no barrier of the warp lies between its lanes",
    Missing.CLUSTER_BARRIER: "no barrier of the cluster lies between them",
    Missing.UNEQUAL_STORE: "lanes of one instruction store different values to one address",
    Missing.STRONG_ACCESS: "only fences order the two accesses, and one of them is weak",
    Missing.STREAM_ORDER: "neither a stream nor an event nor a wait of the host orders them",
}


#: Reason of a race in words.
_REASONS = {
    RaceKind.UNORDERED: "nothing orders the two accesses",
    RaceKind.SAME_INSTRUCTION: "lanes of one instruction store different values",
    RaceKind.SCOPED_ATOMIC: "the scope of an atomic does not include the other thread",
    RaceKind.UNORDERED_STRONG: "nothing orders the two accesses, and both may conflict",
    RaceKind.NOT_STRONG: "only fences order the two accesses, and one of them is weak",
}


class Party(NamedTuple):
    """One of the two accesses of a race.

    Parameters
    ----------
    grid_block : int
        Index of the thread's block in its grid.
    thread : int
        Index of the thread in its block.
    pc : int
        Program counter of the access.
    access : EventKind
        LOAD, STORE or ATOMIC; COPY_READ or COPY_WRITE of a copy, which has no block or thread.
    event : int
        Number of the access's event in the trace, from 0.
    size : int
        Bytes of an access of a kernel; 0 of a copy.
    """

    grid_block: int
    thread: int
    pc: int
    access: EventKind
    event: int
    size: int = 0


@dataclass(frozen=True)
class Race:
    """A race: the first instance for its ``key``.

    Parameters
    ----------
    kind : RaceKind
        What makes it a race.
    race_class : RaceClass
        Whether the threads share a warp, a block, or only the grid.
    space : Space
        Memory of the location.
    address : int
        First byte of the later access; in shared memory from the block's first byte.
    first, second : Party
        The accesses in the order of the trace.
    kernel : int
        Number of the launch in the trace, from 0.
    instances : int
        Pairs of warp instructions with this key, or, by PTX's memory model, the later ones of such
        pairs; not compared.
    block_pairs : int
        Pairs of blocks of these instances; not compared.
    is_least : bool
        Whether there may be more of both than were counted; not compared.
    owner : int, optional
        Index in the grid of the block whose shared memory it is, in a cluster of several; not
        compared.
    """

    kind: RaceKind
    race_class: RaceClass
    space: Space
    address: int
    first: Party
    second: Party
    kernel: int = 0
    instances: int = field(default=1, compare=False)
    block_pairs: int = field(default=1, compare=False)
    is_least: bool = field(default=False, compare=False)
    owner: int | None = field(default=None, compare=False)

    @property
    def reason(self) -> str:
        """Why it is a race, in words."""
        return _REASONS[self.kind]

    @property
    def key(self) -> tuple[frozenset[int], RaceKind, RaceClass, Space]:
        """Key of the race: both program counters, kind, class and memory."""
        return (
            frozenset((self.first.pc, self.second.pc)), self.kind, self.race_class, self.space,
        )  # fmt: skip


class BarrierDivergence(NamedTuple):
    """A barrier that some threads of the block could not reach with the others.

    Parameters
    ----------
    grid_block : int
        Index of the block in its grid.
    pc : int
        Program counter of the barrier.
    thread : int
        Index in its block of the first thread that was not active.
    kernel : int
        Number of the launch in the trace, from 0.
    """

    grid_block: int
    pc: int
    thread: int
    kernel: int


@dataclass
class Counts:
    """Amount of work of an analysis.

    Parameters
    ----------
    events : int
        Trace events.
    operations : int
        Thread-level operations of the paper's Section 3.1.
    pairs : int
        Pairs of warp instructions whose order was looked up in clocks.
    formats : dict of str to int
        Versions of warps' clocks in each of the paper's formats.
    """

    events: int = 0
    operations: int = 0
    pairs: int = 0
    formats: dict[str, int] = field(default_factory=dict)


@dataclass
class Result(Sequence[Race]):
    """Races of a trace, each once, in the order in which they first happened.

    Parameters
    ----------
    races : list of Race
        One of each ``Race.key``.
    barrier_divergences : list of BarrierDivergence
        One for each program counter.
    counts : Counts
        How much was done.
    unordered_strong : list of Race
        Unordered pairs that are not races, since both accesses may conflict; one of each
        ``Race.key``.
    partly_judged : int
        Locations with accesses that may race with some that were no longer kept.
    """

    races: list[Race] = field(default_factory=list)
    barrier_divergences: list[BarrierDivergence] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    unordered_strong: list[Race] = field(default_factory=list)
    partly_judged: int = 0

    @overload
    def __getitem__(self, index: int) -> Race: ...
    @overload
    def __getitem__(self, index: slice) -> list[Race]: ...
    def __getitem__(self, index: int | slice) -> Race | list[Race]:
        return self.races[index]

    def __len__(self) -> int:
        return len(self.races)
