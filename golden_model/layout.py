"""Bit layouts shared by the golden model, the RTL and the testbench.

A layout is an ordered list of named fields, least significant field first.  It is plain data: the
golden model packs and unpacks integers with it, ``racetrap.rtl.common.layout`` turns the same
object into an Amaranth ``StructLayout``, and the generator writes its offsets into the JSON
description.  So every field position is defined once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from racetrap.golden_model.checks import unknown_name


def index_bits(count: int) -> int:
    """Bits of a field that numbers ``count`` things, at least one."""
    return max(1, (count - 1).bit_length())


class Layout:
    """Ordered bit fields of a packed word, least significant first.

    Parameters
    ----------
    fields : mapping of str to int or Layout
        Width in bits of each field, or the layout of a nested structure.  Zero-width fields
        are allowed: they hold the value 0 and take no bits.

    Raises
    ------
    ValueError
        If a width is negative.
    """

    def __init__(self, fields: Mapping[str, int | Layout]):
        self._fields = dict(fields)
        self._offsets: dict[str, int] = {}
        #: Name, offset, mask and nested layout, if it is one, of each field.
        self._rows: list[tuple[str, int, int, Layout | None]] = []
        offset = 0
        for name, shape in self._fields.items():
            self._offsets[name] = offset
            width = self._width_of(name, shape)
            nested = shape if isinstance(shape, Layout) else None
            self._rows.append((name, offset, (1 << width) - 1, nested))
            offset += width
        self._width = offset

    @staticmethod
    def _width_of(name: str, shape: int | Layout) -> int:
        if isinstance(shape, Layout):
            return shape.width
        if shape < 0:
            raise ValueError(f"Width of field {name!r} must be a non-negative integer, not {shape}")
        return shape

    @property
    def width(self) -> int:
        """Total width in bits."""
        return self._width

    @property
    def fields(self) -> Mapping[str, int | Layout]:
        """Field names with their width or nested layout, least significant first."""
        return self._fields

    def offset(self, name: str) -> int:
        """Position of the least significant bit of field ``name``."""
        return self._offsets[name]

    def flat(self, prefix: str = "") -> Iterator[tuple[str, int, int]]:
        """Every leaf field as (dotted name, offset, width)."""
        for name, shape in self._fields.items():
            if isinstance(shape, Layout):
                for leaf, offset, width in shape.flat(f"{prefix}{name}."):
                    yield leaf, self._offsets[name] + offset, width
            else:
                yield prefix + name, self._offsets[name], shape

    def pack(self, values: Mapping[str, Any]) -> int:
        """Pack field values into one integer; every field must be given.

        Raises
        ------
        KeyError
            If a field is missing or unknown.
        ValueError
            If a value does not fit its field.
        """
        if values.keys() != self._fields.keys() and (
            unknown := values.keys() - self._fields.keys()
        ):
            raise KeyError(unknown_name("field", min(unknown), self._fields))
        return self.pack_fields([
            int(values[name]) if nested is None else nested.pack(values[name])
            for name, _, _, nested in self._rows
        ])  # fmt: skip

    def pack_fields(self, values: Sequence[int]) -> int:
        """Pack the values of all fields in their order, those of nested layouts packed before.

        Raises
        ------
        ValueError
            If a value does not fit its field, or their number is not that of the fields.
        """
        word = 0
        for (name, offset, mask, _), value in zip(self._rows, values, strict=True):
            if not 0 <= value <= mask:
                bits = mask.bit_length()
                raise ValueError(f"Field {name!r} must fit in {bits} bits, not {value}")
            word |= value << offset
        return word

    def unpack(self, word: int) -> dict[str, Any]:
        """Split an integer into its field values (nested layouts become nested dicts)."""
        return {
            name: nested.unpack(word >> offset) if nested else word >> offset & mask
            for name, offset, mask, nested in self._rows
        }
