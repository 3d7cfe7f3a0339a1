"""Shapes shared by parts of the monitor."""

from __future__ import annotations

from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.layout import struct_layout


def range_layout(params: NoncoherentParams) -> data.StructLayout:
    """Bytes from ``first`` up to the one before ``end``."""
    return data.StructLayout({"first": params.address_bits, "end": params.end_bits})


def report_signature(params: NoncoherentParams) -> wiring.Signature:
    """Reports without back-pressure: ``payload`` counts in cycles with ``valid``."""
    return wiring.Signature({"valid": Out(1), "payload": Out(struct_layout(params.report_layout))})


def trace_signature(params: NoncoherentParams) -> wiring.Signature:
    """Trace port of a monitor: ``payload`` counts in cycles with ``valid``."""
    return wiring.Signature({"valid": Out(1), "payload": Out(struct_layout(params.step_layout))})
