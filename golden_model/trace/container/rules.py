"""Rules of traces, and violations of them.

The rules are explained, with the same numbers, in ``docs/trace-format.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import NamedTuple

import numpy as np

#: Place of an event, from its number, for error messages; of the whole trace, from -1.
Where = Callable[[int], str]


class Rule(IntEnum):
    """Number of a rule that every trace obeys."""

    MAGIC = 1
    VERSION = 2
    HEADER_LENGTH = 3
    FILE_LENGTH = 4
    HEADER = 5
    KIND = 6
    CODE = 7
    WIDTH = 8
    UNUSED_FIELD = 9
    GEOMETRY = 10
    ATOMIC_STRONG = 11
    SIZE = 12
    LANES = 13
    LANE_RECORDS = 14
    ALIGNMENT = 15
    LANE_VALUES = 16
    VALUE_WIDTH = 17
    KERNEL = 18
    SLOT_FREE = 19
    SLOT_TAKEN = 20
    ALL_RETIRED = 21
    WARPS_FREE = 22
    PLACED = 23
    DIVERGENCE = 24
    TEXT = 25
    THREAD = 26
    BEGIN = 27
    ALIVE = 28
    JOIN = 29
    HELD = 30
    FREE = 31
    BARRIER_WIDTH = 32
    BARRIER_CROSSING = 33
    COLLECT = 34
    ENGINE = 35
    ROWS = 36
    AFTER = 37
    RANK = 38


class RuleViolation(NamedTuple):
    """Events (by number, ascending) that break a rule, and the sentence about one."""

    rule: Rule
    rows: np.ndarray
    describe: Callable[[int], str]


def violation(rule: Rule, broken: np.ndarray, describe: Callable[[int], str]) -> RuleViolation:
    """Violation by the events for which ``broken`` is true."""
    return RuleViolation(rule, np.flatnonzero(broken), describe)


class TraceError(ValueError):
    """A trace breaks a rule.

    Parameters
    ----------
    place : str
        The file, or the file and a line or record.
    rule : Rule
        Rule broken.
    sentence : str
        Sentence with the rule and the offending value.
    """

    def __init__(self, place: str, rule: Rule, sentence: str):
        super().__init__(f"{place}: {sentence} (rule {int(rule)})")
        self.place = place
        self.rule = rule
        self.sentence = sentence

    def __reduce__(self) -> tuple[type, tuple[str, Rule, str]]:
        return type(self), (self.place, self.rule, self.sentence)


def check_rules(violations: Iterable[RuleViolation], where: Where) -> None:
    """Raise ``TraceError`` for the first event that breaks the first broken rule.

    Parameters
    ----------
    violations : iterable of RuleViolation
        Of each rule in turn: a later one may rely on those before it.
    where : callable
        Place of an event, from its number.
    """
    for rule, rows, describe in violations:
        if len(rows):
            row = int(rows[0])
            raise TraceError(where(row), rule, describe(row))
