"""Records of a binary trace, and the rules that every trace obeys.

The rules are explained, with the same numbers, in ``docs/trace-format.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.events import EventKind

__all__ = ["EVENT_DTYPE", "LANE_DTYPE", "USED_FIELDS", "Breach", "Rule", "TraceError"]

#: One event.  Its lane records are the ones from ``first_lane`` on, one for each bit of
#: ``lane_mask``; ``success_mask`` has a bit for each lane whose CAS succeeded.
EVENT_DTYPE = np.dtype([
    ("kind", "u1"),
    ("scope", "u1"),
    ("strong", "u1"),
    ("op", "u1"),
    ("size", "u1"),
    ("slot", "u1"),
    ("warp", "u1"),
    ("warp_count", "u1"),
    ("sm", "<u4"),
    ("pc", "<u4"),
    ("grid_block", "<u4"),
    ("lane_mask", "<u4"),
    ("success_mask", "<u4"),
    ("reserved", "<u4"),
    ("first_lane", "<u8"),
])  # fmt: skip

#: One active lane of an access.
LANE_DTYPE = np.dtype([("address", "<u8"), ("value", "<u8"), ("compare", "<u8")])

_ACCESS = ("sm", "slot", "warp", "pc", "size", "strong", "lane_mask")

#: Fields of the event record that each kind uses; all others are 0.
USED_FIELDS: dict[EventKind, tuple[str, ...]] = {
    EventKind.LOAD: _ACCESS,
    EventKind.STORE: _ACCESS,
    EventKind.ATOMIC: (*_ACCESS, "scope", "op", "success_mask"),
    EventKind.FENCE: ("sm", "slot", "warp", "pc", "scope"),
    EventKind.BARRIER: ("sm", "slot", "pc"),
    EventKind.BLOCK_PLACED: ("sm", "slot", "warp", "warp_count", "grid_block"),
    EventKind.BLOCK_RETIRED: ("sm", "slot"),
    EventKind.KERNEL_BEGIN: (),
    EventKind.KERNEL_END: (),
}


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
    RESERVED = 9
    UNUSED_FIELD = 10
    GEOMETRY = 11
    ATOMIC_STRONG = 12
    SIZE = 13
    LANES = 14
    LANE_RECORDS = 15
    ALIGNMENT = 16
    ATOMIC_VALUES = 17
    VALUE_WIDTH = 18
    KERNEL = 19
    SLOT_FREE = 20
    SLOT_TAKEN = 21
    ALL_RETIRED = 22
    WARPS_FREE = 23
    PLACED = 24
    TEXT = 25


class Breach(NamedTuple):
    """Events (by number) that break a rule, and what to say about one of them."""

    rule: Rule
    rows: np.ndarray
    describe: Callable[[int], str]


class TraceError(ValueError):
    """A trace breaks a rule.

    Parameters
    ----------
    place : str
        Where: the file, or the file and a line or record.
    rule : Rule
        Rule broken.
    sentence : str
        What must be and what is.
    """

    def __init__(self, place: str, rule: Rule, sentence: str):
        super().__init__(f"{place}: {sentence} (rule {int(rule)})")
        self.place = place
        self.rule = rule
        self.sentence = sentence
