"""Data race between threads, as all detectors report it.

Ref: SigRace (ISCA'09) Section 5.4.1 (static and dynamic races).
"""

from __future__ import annotations

from typing import NamedTuple


class RaceParty(NamedTuple):
    """One access of a race.

    Parameters
    ----------
    thread : int
        Thread.
    epoch : int
        Synchronisation events of the thread before it (``epoch_steps`` of each event).
    pc : int
        Instruction.
    is_write : bool
        Whether it writes.
    """

    thread: int
    epoch: int
    pc: int
    is_write: bool


class ThreadRace(NamedTuple):
    """Two unordered accesses of different threads to one granule, at least one of them a write.

    Parameters
    ----------
    address : int
        First byte of the 4-byte granule.
    first, second : RaceParty
        The accesses; the smaller one first, so that equal races are equal.
    """

    address: int
    first: RaceParty
    second: RaceParty

    @property
    def static_key(self) -> tuple[int, int]:
        """The two instructions: dynamic races with the same are one static race."""
        return min(self.first.pc, self.second.pc), max(self.first.pc, self.second.pc)

    @classmethod
    def of(cls, address: int, one: RaceParty, other: RaceParty) -> ThreadRace:
        """The race of two accesses, in either order."""
        return cls(address, min(one, other), max(one, other))
