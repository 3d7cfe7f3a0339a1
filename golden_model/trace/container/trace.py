"""Trace of any system in memory: header and records, from events or a file, and to a file."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from racetrap.golden_model.atomic_write import atomic_write
from racetrap.golden_model.trace.container.columns import event_records, record_events
from racetrap.golden_model.trace.container.container import Container, write_container
from racetrap.golden_model.trace.container.event_text import event_values, event_words
from racetrap.golden_model.trace.container.header import (
    header_from_dict,
    header_lines,
    header_to_dict,
)
from racetrap.golden_model.trace.container.rules import (
    RuleViolation,
    TraceError,
    Where,
    check_rules,
)
from racetrap.golden_model.trace.container.schema import EventSchema
from racetrap.golden_model.trace.container.text import FIRST_LINE, LineError, TextFile

_Header = TypeVar("_Header")
_Event = TypeVar("_Event", bound=tuple[Any, ...])


def _event_number(row: int) -> str:
    return f"event {row}" if row >= 0 else "trace"


class BaseTrace(ABC, Generic[_Header, _Event]):
    """Header and records of a trace; every trace object obeys the rules of the format.

    Parameters
    ----------
    header : dataclass
        Header of the trace.
    tables : numpy.ndarray, one or more
        Records of the types that the schema names; may be mapped from a file.
    where : callable, optional
        Place of an event, from its number, for error messages; of the whole trace, from -1.

    Attributes
    ----------
    events : numpy.ndarray
        Records of the events, the first table.

    Raises
    ------
    TraceError
        If a rule is broken.
    """

    schema: ClassVar[EventSchema]
    #: Description of such a trace, with an article.
    kind: ClassVar[str]
    #: Name of its accesses, and their key in JSON.
    accesses: ClassVar[tuple[str, str]]

    def __init__(self, header: _Header, *tables: np.ndarray, where: Where = _event_number):
        self.header = header
        self.tables = tables
        self.events = tables[0]
        check_rules(self._violations(), where)

    @classmethod
    def of_checked(cls, header: _Header, *tables: np.ndarray) -> Self:
        """Trace from records known to obey the rules."""
        trace = cls.__new__(cls)
        trace.header, trace.tables, trace.events = header, tables, tables[0]
        return trace

    @property
    @abstractmethod
    def addresses(self) -> np.ndarray:
        """Addresses of all accesses."""

    @property
    def totals(self) -> dict[str, int]:
        """Sums over the trace, by name."""
        return {}

    @abstractmethod
    def _violations(self) -> Iterator[RuleViolation]:
        """Violations of the rules from 6 on, in turn."""

    def __iter__(self) -> Iterator[_Event]:
        """Events, made block by block from the records."""
        return record_events(self.schema.event, self.events)

    # From events and files --------------------------------------------------------------

    @classmethod
    def from_events(
        cls, header: _Header, events: Iterable[_Event], where: Where = _event_number
    ) -> Self:
        """Trace of the given events; raises ``TraceError`` if they break a rule."""
        return cls(header, *cls._tables_of(list(events), where), where=where)

    @classmethod
    def _tables_of(cls, events: list[_Event], where: Where) -> tuple[np.ndarray, ...]:
        """Records of the given events."""
        return (event_records(cls.schema, events, where),)

    @classmethod
    def from_container(cls, container: Container) -> Self:
        """Trace in a binary file; its records are mapped, not copied.

        Raises
        ------
        TraceError
            If the file breaks a rule of the format.
        """
        tables = container.tables(*cls.schema.tables)
        header = header_from_dict(cls.schema.header, container.header, container.place)
        return cls(header, *tables, where=container.place_of_record)

    @classmethod
    def from_text(cls, file: TextFile) -> Self:
        """Trace in a text file: every line becomes an event, then the common rules apply.

        Raises
        ------
        TraceError
            If the file breaks a rule of the format.
        """
        header = header_from_dict(cls.schema.header, file.header, file.place)
        events = []
        for number, line in file.lines:
            try:
                events.append(cls._event_of(line.split()))
            except LineError as error:
                place = f"{file.place}, line {number}"
                raise TraceError(place, error.rule, error.sentence) from None
        return cls.from_events(header, events, file.place_of_event)

    @classmethod
    def _event_of(cls, words: list[str]) -> _Event:
        """Event of the words of a line, or ``LineError``."""
        event: _Event = cls.schema.event(**event_values(cls.schema, words))
        return event

    # To files ---------------------------------------------------------------------------

    def write_binary(self, path: str | os.PathLike[str]) -> None:
        """Write the binary form; ``ValueError`` if the header is too long."""
        counts = *map(len, self.tables), 0
        self._write_container(path, counts[:2], (table.tobytes() for table in self.tables))

    def _write_container(
        self, path: str | os.PathLike[str], counts: tuple[int, ...], body: Iterable[bytes]
    ) -> None:
        with atomic_write(path) as file:
            write_container(file, header_to_dict(self.header), counts, body)

    def write_text(self, path: str | os.PathLike[str]) -> None:
        """Write the text form."""
        with atomic_write(path) as file:
            file.writelines(f"{line}\n".encode() for line in self.lines())

    def lines(self) -> Iterator[str]:
        """Lines of the text form."""
        yield FIRST_LINE
        yield from header_lines(self.header)
        yield f"events {len(self)}"
        yield ""
        for event in self:
            yield " ".join(self._words_of(event))

    def _words_of(self, event: _Event) -> list[str]:
        """Words of an event's line."""
        return event_words(self.schema, event)

    # As an object -----------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.events)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BaseTrace):
            return NotImplemented
        return self.header == other.header and all(map(np.array_equal, self.tables, other.tables))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        sizes = ", ".join(str(len(table)) for table in self.tables)
        return f"{type(self).__name__}({self.header!r}, {sizes} records)"
