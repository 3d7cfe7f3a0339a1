"""States of a word, and the inputs of a transition.

Ref: HiRace (SC'24), the state table of its published artefact.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Access(IntEnum):
    """Kind of access to a word."""

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
    """Narrowest unit that the accessor shares with the word's last accessor."""

    SAME_THREAD = 0
    SAME_WARP = 1
    SAME_BLOCK = 2
    SAME_GRID = 3


class Family(IntEnum):
    """Kind of the accesses since the last one that is ordered after all before it.

    SYNC: reads of a value that a barrier separates from its write; SYNC_ATOMIC: atomics on it.
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
    """Meaning of a state.

    Parameters
    ----------
    family : Family
        Kind of the accesses.
    width : Relation
        Unit that their threads share.
    shield : int
        Barriers between them and the plain access before: one bit for the warp's and one for the
        block's.  The block's also covers all other accesses.
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
