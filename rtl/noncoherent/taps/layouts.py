"""Shapes shared by the taps and their queue."""

from __future__ import annotations

from amaranth.lib import data

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.layout import struct_layout


def lane_layout(params: NoncoherentParams) -> data.StructLayout:
    """An operation of this cycle, if there is one."""
    return data.StructLayout({"valid": 1, "operation": struct_layout(params.operation_layout)})
