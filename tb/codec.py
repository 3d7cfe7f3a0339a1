"""Fast unpacking of the words that monitors read in volume."""

from __future__ import annotations

from collections.abc import Callable

from racetrap.golden_model.layout import Layout
from racetrap.golden_model.scord.packets import Packet, Step
from racetrap.golden_model.scord.params import ScordParams

__all__ = ["field_reader", "step_reader"]


def field_reader(layout: Layout) -> Callable[[int], list[int]]:
    """Function that splits a word into the values of all leaf fields, in the layout's order."""
    fields = [(offset, (1 << width) - 1) for _, offset, width in layout.flat()]
    return lambda word: [word >> offset & mask for offset, mask in fields]


def step_reader(params: ScordParams) -> Callable[[int], Step]:
    """Function that turns the payload of a trace port into a ``Step``."""
    read = field_reader(params.step_layout)
    packet_fields = len(Packet._fields)

    def step(word: int) -> Step:
        values = read(word)
        return Step(Packet(*values[:packet_fields]), *values[packet_fields:])

    return step
