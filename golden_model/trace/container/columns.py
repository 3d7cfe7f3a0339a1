"""Records from events, refusing values that do not fit (rule 8), and events from records."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from racetrap.golden_model.trace.container.rules import Rule, TraceError, Where
from racetrap.golden_model.trace.container.schema import EventSchema

#: Events turned into Python objects at a time: large enough to hide NumPy's cost of a call.
BLOCK_EVENTS = 4096

_Event = TypeVar("_Event", bound=tuple[Any, ...])
#: Code in ``array`` of an unsigned field, by its bytes.
_ARRAY_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}


def fill(target: np.ndarray, name: str, values: list[Any], where: Where) -> None:
    """Fill one field of all records; ``array`` refuses values that do not fit, NumPy may wrap.

    Parameters
    ----------
    target : numpy.ndarray
        Records.
    name : str
        The field.
    values : list of int
        A value for each record.
    where : callable
        Place of a record, from its number.

    Raises
    ------
    TraceError
        If a value is no whole number of the field's width.
    """
    code = _ARRAY_CODES[target.dtype[name].itemsize]
    try:
        target[name] = np.frombuffer(
            array(code, values), dtype=target.dtype[name].newbyteorder("=")
        )
    except (OverflowError, TypeError):
        limit = 1 << 8 * target.dtype[name].itemsize
        for row, value in enumerate(values):
            if not isinstance(value, int) or not 0 <= value < limit:
                raise TraceError(
                    where(row),
                    Rule.WIDTH,
                    f"Field {name} must be a whole number below {limit:#x}, not {value!r}",
                ) from None
        raise


def event_records(
    schema: EventSchema, events: Sequence[Any], where: Where, **computed: list[int]
) -> np.ndarray:
    """Records of events: every column that is one of their fields, or in ``computed``.

    Raises
    ------
    TraceError
        If a value is no whole number of its column's width.
    """
    records = np.zeros(len(events), dtype=schema.tables[0])
    for number, name in enumerate(schema.event._fields):
        if name in records.dtype.fields:
            values = computed.get(name)
            fill(records, name, values or [event[number] for event in events], where)
    return records


def record_events(event: type[_Event], records: np.ndarray) -> Iterator[_Event]:
    """Events of records in which every field is a column, made block by block."""
    make = partial(tuple.__new__, event)  # of an iterable, without a call of Python code
    for start in range(0, len(records), BLOCK_EVENTS):
        block = records[start : start + BLOCK_EVENTS]
        columns = (block[name].tolist() for name in event._fields)  # type: ignore[attr-defined]
        yield from map(make, zip(*columns, strict=True))
