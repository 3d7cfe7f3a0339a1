"""Small GPU programs: actors (one thread of one warp each) that run straight-line statements.

Statements are data, so a program reads like the table it comes from::

    Actor(block=0, warp=0, statements=(store("data", 1), fence(DEVICE), exch("flag", 1, DEVICE)))

Ref: ScoRD (ISCA'20) Section III (scopes, strong and weak accesses).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from racetrap.golden_model.events import AtomicOp, EventKind, Scope
from racetrap.golden_model.gpu.params import LINE_BYTES
from racetrap.golden_model.gpu.region import Region

BLOCK, DEVICE = Scope.BLOCK, Scope.DEVICE

_REGION_BASE = 0x1_0000
#: Variables of the programs: each in a line of its own, so that no two share a metadata entry
#: in any configuration that can monitor the region.
VARIABLES = {
    name: _REGION_BASE + LINE_BYTES * number
    for number, name in enumerate(("data", "flag", "lock", "dummy"))
}


def program_region(metadata_base: int = 0) -> Region:
    """Region of 16 KiB that holds the variables of every program."""
    return Region(data_base=_REGION_BASE, size_log2=14, metadata_base=metadata_base)


@dataclass(frozen=True)
class Statement:
    """One instruction of an actor.

    Parameters
    ----------
    kind : EventKind
        LOAD, STORE, ATOMIC or FENCE.
    variable : str
        Name in ``VARIABLES`` (accesses).
    value, compare : int
        Operand: stored, added, or what a CAS stores and expects.
    scope, strong, op
        As in an event.
    until : callable, optional
        For a spinning atomic: it is repeated until this holds of the old value.
    """

    kind: EventKind
    variable: str = ""
    value: int = 0
    compare: int = 0
    scope: Scope = BLOCK
    strong: bool = False
    op: AtomicOp = AtomicOp.CAS
    until: Callable[[int], bool] | None = None


@dataclass(frozen=True)
class Actor:
    """The statements of one warp (its first thread).

    Parameters
    ----------
    block, warp : int
        Index of the block in the grid, and of the warp in its block.
    statements : tuple of Statement
        Executed in order.
    """

    block: int
    warp: int
    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class MicroProgram:
    """A grid and its actors; warps without an actor are idle.

    Parameters
    ----------
    name : str
        Name for display and reports.
    blocks, warps_per_block : int
        Size of the grid.
    actors : tuple of Actor
        What runs.
    """

    name: str
    blocks: int
    warps_per_block: int
    actors: tuple[Actor, ...]


def load(variable: str) -> Statement:
    """Volatile load."""
    return Statement(EventKind.LOAD, variable, scope=DEVICE, strong=True)


def store(variable: str, value: int = 0) -> Statement:
    """Volatile store."""
    return Statement(EventKind.STORE, variable, value, scope=DEVICE, strong=True)


def weak_store(variable: str, value: int = 0) -> Statement:
    """Plain store."""
    return Statement(EventKind.STORE, variable, value)


def fence(scope: Scope) -> Statement:
    """Memory fence."""
    return Statement(EventKind.FENCE, scope=scope)


def exch(variable: str, value: int, scope: Scope) -> Statement:
    """Atomic exchange."""
    return Statement(EventKind.ATOMIC, variable, value, scope=scope, strong=True, op=AtomicOp.EXCH)


def cas(variable: str, compare: int, value: int, scope: Scope) -> Statement:
    """Atomic compare-and-swap."""
    return Statement(
        EventKind.ATOMIC, variable, value, compare, scope=scope, strong=True, op=AtomicOp.CAS
    )


def add(variable: str, value: int, scope: Scope) -> Statement:
    """Atomic addition."""
    return Statement(EventKind.ATOMIC, variable, value, scope=scope, strong=True, op=AtomicOp.OTHER)


def spin(atomic: Statement, until: Callable[[int], bool]) -> Statement:
    """The atomic, repeated until ``until`` holds of the value it found."""
    return replace(atomic, until=until)
