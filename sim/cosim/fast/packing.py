"""Many packed records at once: columns of integers to 32-bit words and back."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from racetrap.golden_model.layout import Layout

_WORD = 32


def words_of(layout: Layout) -> int:
    """32-bit words that one record of ``layout`` takes."""
    return -(-layout.width // _WORD)


def record_at(words: NDArray[np.uint64], place: int, record_words: int) -> int:
    """Record at an index of an array of records of 64-bit words."""
    return int.from_bytes(words[place * record_words :][:record_words].tobytes(), "little")


def pack_records(
    layout: Layout, columns: Sequence[Sequence[int] | np.ndarray]
) -> NDArray[np.uint32]:
    """Pack records given by field into rows of 32-bit words, least significant word first.

    Parameters
    ----------
    layout : Layout
        Layout whose leaf fields are at most 64 bits wide.
    columns : sequence of sequence of int
        Values of each leaf field, in the layout's order; arrays of unsigned integers are faster.

    Raises
    ------
    ValueError
        If a value does not fit its field.
    """
    words = np.zeros((len(columns[0]), words_of(layout)), dtype=np.uint32)
    for (name, offset, width), column in zip(layout.flat(), columns, strict=True):
        values = _values(column, width)
        if width < 64 and (values >> np.uint64(width)).any():
            largest = max(column)
            raise ValueError(f"Field {name!r} must fit in {width} bits, not {largest}")
        index, shift = divmod(offset, _WORD)
        done = 0
        while done < width:
            part = (values >> np.uint64(done)) << np.uint64(shift)
            words[:, index] |= (part & np.uint64(0xFFFFFFFF)).astype(np.uint32)
            done += _WORD - shift
            index, shift = index + 1, 0
    return words


def pack_tuples(layout: Layout, records: Sequence[tuple]) -> NDArray[np.uint32]:
    """Pack named tuples, which may have tuples in them, into rows of 32-bit words."""
    columns = _columns(records) if records else ((),) * len(list(layout.flat()))
    return pack_records(layout, list(columns))


def _columns(records: Sequence[tuple]) -> Iterator[tuple]:
    for column in zip(*records, strict=True):
        if isinstance(column[0], tuple):
            yield from zip(*column, strict=True)
        else:
            yield column


def nested(outer: Any, inner: Any) -> Callable[..., Any]:
    """Constructor of an ``outer``, whose first field is an ``inner``, from all leaf values."""
    count = len(inner._fields)
    return lambda *values: outer(inner(*values[:count]), *values[count:])


def _values(column: Sequence[int] | np.ndarray, width: int) -> NDArray[np.uint64]:
    """A column as an array; ``pack_records`` checks that its values fit."""
    if isinstance(column, np.ndarray):
        return column.astype(np.uint64)
    if width <= 8:
        # Via bytes: faster than NumPy's type inspection of each item.
        with suppress(ValueError):
            return np.frombuffer(bytes(column), dtype=np.uint8).astype(np.uint64)
    return np.frombuffer(array("Q", column), dtype=np.uint64)


def unpack_records(layout: Layout, words: NDArray[np.uint32]) -> list[list[int]]:
    """Values of each leaf field of the records in ``words``, in the layout's order."""
    return [_integers(words, offset, width) for _, offset, width in layout.flat()]


def _integers(words: NDArray[np.uint32], offset: int, width: int) -> list[int]:
    """Values of a field of any width."""
    if width <= 64:
        return _unpack(words, offset, width).tolist()
    low = _unpack(words, offset, 64).tolist()
    high = _integers(words, offset + 64, width - 64)
    return [upper << 64 | lower for lower, upper in zip(low, high, strict=True)]


def unpack_column(layout: Layout, words: NDArray[np.uint32], field: str) -> NDArray[np.uint64]:
    """Values of one leaf field, by its dotted name, of the records in ``words``."""
    offset, width = next(place for name, *place in layout.flat() if name == field)
    return _unpack(words, offset, width)


def _unpack(words: NDArray[np.uint32], offset: int, width: int) -> NDArray[np.uint64]:
    values = np.zeros(len(words), dtype=np.uint64)
    index, shift = divmod(offset, _WORD)
    done = 0
    while done < width:
        part = words[:, index].astype(np.uint64) >> np.uint64(shift)
        values |= part << np.uint64(done)
        done += _WORD - shift
        index, shift = index + 1, 0
    if width < 64:
        values &= np.uint64((1 << width) - 1)
    return values
