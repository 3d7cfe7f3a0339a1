"""Races of a run, grouped by rule and places in the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from racetrap.golden_model.noncoherent.rules import Overlap, Rule, is_harmless_alone


class Origin(NamedTuple):
    """Operation that inserted bytes into a set.

    Parameters
    ----------
    number : int
        Number of the operation in the trace; for bytes from several operations at one place, the
        latest.
    kind : int
        ``OperationKind``.
    engine : int
        Engine, if the kind has one.
    pc : int
        Program counter, 0 if it is not known.
    """

    number: int
    kind: int
    engine: int = 0
    pc: int = 0

    @property
    def place(self) -> tuple[int, ...]:
        """Key of the place in the program; without a PC each operation is its own place."""
        return (self.kind, self.engine, self.pc) if self.pc else (self.number,)


@dataclass
class Race:
    """Two places in the program that break a rule.

    Parameters
    ----------
    rule : Rule
        The rule.
    later : Origin
        The operation that found it first.
    earlier : Origin
        The other one.
    first, last : int
        Bytes concerned.
    overlap : Overlap
        Unit that the two have in common; of several instances, in the first with common bytes.
    instances : int
        Operations of the later place that found it.
    is_overwritten : bool
        For lost data: all of it is overwritten before it is read.
    """

    rule: Rule
    later: Origin
    earlier: Origin
    first: int
    last: int
    overlap: Overlap
    instances: int = 1
    is_overwritten: bool = False

    @property
    def is_false_sharing(self) -> bool:
        """Whether it cannot corrupt a byte that either operation uses."""
        return is_harmless_alone(self.rule, self.earlier.kind, self.overlap)


class MonitorRace(NamedTuple):
    """A rule that an operation breaks, definitely or possibly.

    Parameters
    ----------
    rule : Rule
        The rule.
    later, earlier : int
        Numbers of the operations in the trace.
    is_definite : bool
        Whether the matching set has exactly the bytes inserted.
    has_others : bool
        Whether the matching entry has bytes of other operations, too.
    first, last : int
        Bytes of the later operation's row.
    """

    rule: Rule
    later: int
    earlier: int
    is_definite: bool
    has_others: bool
    first: int
    last: int
