"""Races that a GPU detector reports, each with both accesses.

A report of the hardware names block slots, and little of the earlier access.  The events of a trace
have the rest: grid blocks, and which access it was.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from racetrap.golden_model.events import AtomicOp, Event, EventKind, Scope

#: What makes a race unique: program counter and kind of race, a number of the detector's own.
UniqueRace = tuple[int, int]
#: Different races that a detector reports, with the program counters of the earlier accesses.
Reports = Mapping[UniqueRace, Collection[int]]


class Report(Protocol):
    """Race report of any GPU detector."""

    @property
    def address(self) -> int:
        """Byte address of the word."""

    @property
    def pc(self) -> int:
        """Program counter of the access that found the race."""

    @property
    def sequence(self) -> int:
        """Number of the race since reset."""

    @property
    def race(self) -> int:
        """Kind of race, a number of the detector's own."""

    @property
    def key(self) -> UniqueRace:
        """What makes it unique."""

    @property
    def kind_words(self) -> str:
        """Kind of race for people and files."""

    @property
    def race_scope(self) -> Scope:
        """Whether the race is one inside a block or one between blocks of the device."""

    @property
    def space(self) -> str:
        """Memory of the word: ``global`` or ``shared``."""

    @property
    def rule(self) -> tuple[str, str]:
        """What decided, as the method has it: the name of the place, and which one there."""

    @property
    def reason(self) -> str:
        """Why the two accesses race, as a clause."""


@dataclass(frozen=True, slots=True)
class Access:
    """One of the two accesses of a race.

    Parameters
    ----------
    event : int
        Number of the event in the trace, from 0.
    kind, scope, strong, op : str, str or None, bool, str or None
        What it was: ``load``, ``store`` or ``atomic``; scope and op only of atomics.
    pc : int
        Its program counter.
    grid_block : int
        Index of its block in the grid.
    sm, slot, warp : int
        Where it ran: SM, block slot and warp slot.
    location : str or None
        Line of the source, such as ``file.cu:12``, if the trace has it.
    """

    event: int
    kind: str
    scope: str | None
    strong: bool
    op: str | None
    pc: int
    grid_block: int
    sm: int
    slot: int
    warp: int
    location: str | None = None

    @classmethod
    def from_event(
        cls, number: int, event: Event, grid_block: int, location: str | None = None
    ) -> Access:
        """Access of event ``number``, made by block ``grid_block`` at ``location``."""
        atomic = event.kind == EventKind.ATOMIC
        return cls(
            event=number,
            kind=EventKind(event.kind).name.lower(),
            scope=Scope(event.scope).name.lower() if atomic else None,
            strong=event.strong,
            op=AtomicOp(event.op).name.lower() if atomic else None,
            pc=event.pc,
            grid_block=grid_block,
            sm=event.sm,
            slot=event.slot,
            warp=event.warp,
            location=location,
        )

    def __str__(self) -> str:
        if self.kind == "atomic":
            what = f"{self.scope}-scope atomic {self.op}"
        else:
            what = f"{'strong' if self.strong else 'weak'} {self.kind}"
        place = f" ({self.location})" if self.location else ""
        return (
            f"{what} at pc {self.pc:#x}{place} by grid block {self.grid_block} "
            f"(SM {self.sm}, slot {self.slot}), warp {self.warp}, event {self.event}"
        )

    def party(self) -> str:
        """Kind, block and warp, and the line if it is known."""
        place = f" at {self.location}" if self.location else ""
        return f"{self.kind} of grid block {self.grid_block} warp {self.warp}{place}"


@dataclass(frozen=True)
class Finding:
    """A race: the report as the hardware gives it, and the two accesses."""

    report: Report
    access: Access
    earlier: Access

    def sentence(self) -> str:
        """The race in one sentence, with grid blocks instead of block slots."""
        return (
            f"The {self.access.party()} races with the {self.earlier.party()}: "
            f"{self.report.reason}."
        )
