"""A trace of threads in memory: header and records, always valid; from events or from a file."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from racetrap.golden_model.trace.container.atomic_write import replacing
from racetrap.golden_model.trace.container.columns import fill
from racetrap.golden_model.trace.threads.binary_writer import dump_binary
from racetrap.golden_model.trace.threads.events import ThreadEvent, ThreadTraceHeader
from racetrap.golden_model.trace.threads.records import THREAD_DTYPE
from racetrap.golden_model.trace.threads.rules import check_rules
from racetrap.golden_model.trace.threads.text_writer import dump_text

__all__ = ["ThreadTrace", "thread_events"]

#: Events turned into Python objects at a time: large enough to hide NumPy's cost of a call.
_BLOCK = 4096
#: ``ThreadEvent`` of an iterable of its fields, without a call of Python code.
_event: Any = partial(tuple.__new__, ThreadEvent)


def thread_events(records: np.ndarray) -> Iterator[ThreadEvent]:
    """Events of records of ``THREAD_DTYPE``, made block by block."""
    for start in range(0, len(records), _BLOCK):
        block = records[start : start + _BLOCK]
        columns = (block[name].tolist() for name in ThreadEvent._fields)
        yield from map(_event, zip(*columns, strict=True))


def _event_number(row: int) -> str:
    return f"event {row}"


class ThreadTrace:
    """Header and events of a run of threads; every trace object obeys the rules of the format.

    Iterating gives ``ThreadEvent`` tuples, made block by block from the records.

    Parameters
    ----------
    header : ThreadTraceHeader
        What the trace says about itself.
    events : numpy.ndarray
        Records of ``THREAD_DTYPE``; may be mapped from a file.
    where : callable, optional
        Name of the place of an event, from its number, for error messages.

    Raises
    ------
    TraceError
        If a rule is broken.
    """

    def __init__(
        self,
        header: ThreadTraceHeader,
        events: np.ndarray,
        where: Callable[[int], str] = _event_number,
    ):
        check_rules(header, events, where)
        self.header = header
        self.events = events

    @classmethod
    def from_events(
        cls,
        header: ThreadTraceHeader,
        events: Iterable[ThreadEvent],
        where: Callable[[int], str] = _event_number,
    ) -> ThreadTrace:
        """Trace of the given events; raises ``TraceError`` if they break a rule."""
        rows = list(events)
        records = np.zeros(len(rows), dtype=THREAD_DTYPE)
        for column, name in enumerate(ThreadEvent._fields):
            fill(records, name, [row[column] for row in rows], where)
        return cls(header, records, where)

    def write_binary(self, path: str | os.PathLike[str], compress: bool = False) -> None:
        """Write the binary form; a compressed one is smaller, but is not mapped when read."""
        with replacing(path) as file:
            dump_binary(self, file, compress)

    def write_text(self, path: str | os.PathLike[str]) -> None:
        """Write the text form."""
        with replacing(path) as file:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
            dump_text(self, text)
            text.detach()

    def __len__(self) -> int:
        return len(self.events)

    def __iter__(self) -> Iterator[ThreadEvent]:
        return thread_events(self.events)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ThreadTrace):
            return NotImplemented
        return self.header == other.header and np.array_equal(self.events, other.events)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ThreadTrace({self.header!r}, {len(self.events)} events)"
