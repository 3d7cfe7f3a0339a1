"""Races of a run: findings put together by rule and places of the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from racetrap.golden_model.noncoherent.rules import Overlap, Rule, is_harmless_alone


class Origin(NamedTuple):
    """Operation that put bytes into a set.

    Parameters
    ----------
    number : int
        Number of the operation in the trace; of a run that several operations of one place have
        made, the latest.
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
        """What tells places of the program apart; without a PC each operation is its own."""
        return (self.kind, self.engine, self.pc) if self.pc else (self.number,)


@dataclass
class Race:
    """Two places of the program that break a rule.

    Parameters
    ----------
    rule : Rule
        The rule.
    later : Origin
        The operation that found it first.
    earlier : Origin
        The other one.
    first, last : int
        Bytes in question.
    overlap : Overlap
        What the two have in common; if there are several instances, in the first of those that
        have bytes in common.
    instances : int
        Operations of the later place that found it.
    is_overwritten : bool
        Of lost data: all of it is overwritten before anyone reads it.
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
        """Whether no byte that either operation uses can be wrong because of it."""
        return is_harmless_alone(self.rule, self.earlier.kind, self.overlap)
