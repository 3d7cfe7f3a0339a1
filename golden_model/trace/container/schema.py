"""Record schema of a trace: the fields of its events, in records and in text.

Each system (a GPU, or the threads of a program) declares one; both codecs, and the rules on
kinds, codes and unused fields, follow from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import Any

import numpy as np


def words_of(codes: type[IntEnum]) -> dict[str, Any]:
    """Words of an enumeration: the names of its members in lower case."""
    return {code.name.lower(): code for code in codes}


@dataclass(frozen=True)
class Number:
    """Field of an event written as ``name=number`` in text.

    Parameters
    ----------
    column : str
        Column of the record, and attribute of the event.
    name : str
        Name in text; by default the column's.
    is_hexadecimal : bool
        Whether it is written in hexadecimal.
    is_optional : bool
        Whether text may omit it where it is 0.
    first_bit : int
        Lowest bit of the field in the column; lower bits belong to another field.
    """

    column: str
    name: str = ""
    is_hexadecimal: bool = False
    is_optional: bool = False
    first_bit: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.column)

    def text(self, event: Any) -> str | None:
        """Word of an event's line; None if the field is left out."""
        value = getattr(event, self.column) >> self.first_bit
        if self.is_optional and not value:
            return None
        return f"{self.name}={value:#x}" if self.is_hexadecimal else f"{self.name}={value}"


@dataclass(frozen=True)
class Word:
    """Field of an event written as a bare word in text.

    Parameters
    ----------
    column : str
        Column of the record, and attribute of the event.
    name : str
        Meaning of the words, for error messages.
    codes : mapping of str to int
        Code of each word; without a word for 0, text omits the field where it is 0.
    condition : str
        Column that must not be 0, otherwise the field is 0 and omitted; empty if there is none.
    bits : int
        Number of low bits of the column that form the field; 0 for all.  Each of their values must
        be a code.
    """

    column: str
    name: str
    codes: Mapping[str, Any]
    condition: str = ""
    bits: int = 0

    def text(self, event: Any) -> str | None:
        """Word of an event's line; None if the field is left out."""
        if self.condition and not getattr(event, self.condition):
            return None
        value = getattr(event, self.column) & (1 << (self.bits or 64)) - 1
        return next((word for word, code in self.codes.items() if code == value), None)


class EventSchema:
    """Fields of the events of one system.

    Parameters
    ----------
    header : type
        Dataclass of the header; the default of its ``system`` names the system.
    event : type of NamedTuple
        An event.
    kinds : type of IntEnum
        Kinds of event, numbered from 0.
    tables : sequence of numpy.dtype
        Records of an event, and of other tables of a trace.
    fields : mapping of kind to sequence of Number or Word
        Fields of each kind, in the order of text.
    implied : mapping of kind to sequence of str
        Columns that a kind uses besides those of its fields.

    Attributes
    ----------
    system : str
        Name of the system.
    by_name : dict of str to kind
        Kind of each name.
    numbers : dict of kind to dict of str to Number
        Numbers of each kind, by name.
    words : dict of kind to dict of str to Word
        Field of each word that a kind can have.
    used : dict of kind to set of str
        Columns that each kind uses; all other columns are 0.
    """

    def __init__(
        self,
        header: Any,
        event: Any,
        kinds: type[IntEnum],
        tables: tuple[np.dtype, ...],
        fields: Mapping[Any, tuple[Number | Word, ...]],
        implied: Mapping[Any, tuple[str, ...]] = MappingProxyType({}),
    ) -> None:
        self.system: str = header.system
        self.header = header
        self.event = event
        self.kinds = kinds
        self.by_name = words_of(kinds)
        self.tables = tables
        self.fields = fields
        self.numbers: dict[int, dict[str, Number]] = {}
        self.words: dict[int, dict[str, Word]] = {}
        self.used: dict[int, set[str]] = {}
        for kind in kinds:
            own = fields[kind]
            self.numbers[kind] = {each.name: each for each in own if isinstance(each, Number)}
            words = [each for each in own if isinstance(each, Word)]
            self.words[kind] = {word: each for each in words for word in each.codes}
            self.used[kind] = {each.column for each in own} | {*implied.get(kind, ())}

    def having(self, kinds: Iterable[int]) -> np.ndarray:
        """Table over all kinds: whether the kind is one of ``kinds``."""
        table = np.zeros(len(self.kinds), dtype=bool)
        table[list(kinds)] = True
        return table

    def name(self, kind: int) -> str:
        """Name of a kind, as text has it."""
        return self.kinds(kind).name.lower()
