"""Fast unpacking of the words that monitors read in volume."""

from __future__ import annotations

from collections.abc import Callable

from racetrap.golden_model.layout import Layout

__all__ = ["field_reader"]


def field_reader(layout: Layout) -> Callable[[int], list[int]]:
    """Function that splits a word into the values of all leaf fields, in the layout's order."""
    fields = [(offset, (1 << width) - 1) for _, offset, width in layout.flat()]
    return lambda word: [word >> offset & mask for offset, mask in fields]
