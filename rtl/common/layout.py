"""Golden-model layouts as Amaranth shapes."""

from __future__ import annotations

from amaranth.lib import data

from racetrap.golden_model.layout import Layout


def struct_layout(layout: Layout) -> data.StructLayout:
    """The ``StructLayout`` with the same field names, widths and offsets as ``layout``."""
    return data.StructLayout({
        name: struct_layout(shape) if isinstance(shape, Layout) else shape
        for name, shape in layout.fields.items()
    })  # fmt: skip
