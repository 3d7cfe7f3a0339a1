"""States of a word, and what a transition depends on.

Ref: HiRace (SC'24), the state table of its published artefact.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

__all__ = ["Access", "Family", "Form", "Relation", "State", "Sync"]


class Access(IntEnum):
    """What an access does to a word."""

    READ = 0
    WRITE = 1
    BLOCK_ATOMIC = 2
    GRID_ATOMIC = 3


class Sync(IntEnum):
    """Widest barrier that the accessor has passed since the word's last access.

    The codes are those of the ``Relation`` up to which such a barrier orders.
    """

    NONE = 0
    WARP = 1
    BLOCK = 2


class Relation(IntEnum):
    """What the accessor shares with the word's last accessor: the least that holds."""

    SAME_THREAD = 0
    SAME_WARP = 1
    SAME_BLOCK = 2
    SAME_GRID = 3


class Family(IntEnum):
    """What the accesses since the last that orders all before it were.

    SYNC are reads of what a barrier protects from the write before, SYNC_ATOMIC atomics on it.
    """

    INIT = 0
    READ = 1
    WRITE = 2
    SYNC = 3
    BLOCK_ATOMIC = 4
    GRID_ATOMIC = 5
    SYNC_ATOMIC = 6
    RACE = 7


class Form(NamedTuple):
    """What a state stands for.

    Parameters
    ----------
    family : Family
        Kind of the accesses.
    width : Relation
        What their threads have in common.
    shield : int
        Barriers between them and the plain access before: a bit for one of the warp and one for
        one of the block.  The block's protects whatever else there was.
    """

    family: Family
    width: Relation = Relation.SAME_THREAD
    shield: int = 0


_WARP, _BLOCK, _BOTH = 1, 2, 3


class State(IntEnum):
    """State of a word; the names are the artefact's, with underscores."""

    form: Form

    def __new__(cls, family: int, width: int = 0, shield: int = 0) -> State:
        code = len(cls.__members__)
        state = int.__new__(cls, code)
        state._value_ = code
        state.form = Form(Family(family), Relation(width), shield)
        return state

    INIT = Family.INIT
    READ = Family.READ
    WREAD = Family.READ, Relation.SAME_WARP
    BREAD = Family.READ, Relation.SAME_BLOCK
    GREAD = Family.READ, Relation.SAME_GRID
    WRITE = Family.WRITE
    WSYNC = Family.SYNC, Relation.SAME_THREAD, _WARP
    MR_WSYNC = Family.SYNC, Relation.SAME_WARP, _WARP
    BSYNC = Family.SYNC, Relation.SAME_THREAD, _BLOCK
    BWSYNC = Family.SYNC, Relation.SAME_THREAD, _BOTH
    W_MR_BWSYNC = Family.SYNC, Relation.SAME_WARP, _BLOCK
    B_MR_BSYNC = Family.SYNC, Relation.SAME_BLOCK, _BLOCK
    BATOM = Family.BLOCK_ATOMIC
    BATOM_W = Family.BLOCK_ATOMIC, Relation.SAME_WARP
    BATOM_B = Family.BLOCK_ATOMIC, Relation.SAME_BLOCK
    GATOM = Family.GRID_ATOMIC
    GATOM_W = Family.GRID_ATOMIC, Relation.SAME_WARP
    GATOM_B = Family.GRID_ATOMIC, Relation.SAME_BLOCK
    GATOM_G = Family.GRID_ATOMIC, Relation.SAME_GRID
    WSYNC_ATOM = Family.SYNC_ATOMIC, Relation.SAME_THREAD, _WARP
    WSYNC_ATOM_M = Family.SYNC_ATOMIC, Relation.SAME_WARP, _WARP
    BSYNC_ATOM = Family.SYNC_ATOMIC, Relation.SAME_THREAD, _BLOCK
    BSYNC_ATOM_W = Family.SYNC_ATOMIC, Relation.SAME_WARP, _BLOCK
    BSYNC_ATOM_B = Family.SYNC_ATOMIC, Relation.SAME_BLOCK, _BLOCK
    RACE = Family.RACE
