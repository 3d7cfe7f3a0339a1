"""Report encoder: a step that found a race, as a race report.

Ref: ScoRD (ISCA'20) Section IV ("ScoRD reports the instruction pointer and the data address").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from amaranth.hdl import Module, Signal, ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.common.layout import struct_layout

#: Fields of a report that have names of their own, given step and entry.
OwnFields = Callable[[Any, Any], Mapping[str, ValueLike]]


class ReportEncoder(wiring.Component):
    """Fills in every field of a report but its sequence number.  Combinational.

    A field is that of the packet or of the step with its name, or behind ``owner_`` that of the
    entry which the access found.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    own_fields : callable
        The detector's other fields.

    Members
    -------
    i_bank : ``In(range(banks))``
        Number of the bank, a constant.
    i_step : ``In(step_layout)``
        Step with a race.
    o_report : ``Out(report_layout)``
        Its report.
    """

    def __init__(self, params: GpuParams, own_fields: OwnFields):
        self._params, self._own_fields = params, own_fields
        super().__init__({
            "i_bank": In(range(params.banks)),
            "i_step": In(struct_layout(params.step_layout)),
            "o_report": Out(struct_layout(params.report_layout)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params, step = self._params, self.i_step
        owner = Signal(struct_layout(params.entry_layout))
        known: dict[str, Any] = {
            **{name: step[name] for name in params.step_layout.fields},
            **{name: step.packet[name] for name in params.packet_layout.fields},
            **{f"owner_{name}": owner[name] for name in params.entry_layout.fields},
            "address": step.packet.word << 2,
            "bank": self.i_bank,
            **self._own_fields(step, owner),
        }
        m.d.comb += owner.eq(step.before)
        m.d.comb += [
            self.o_report[name].eq(known[name]) for name in params.report_layout.fields
            if name in known
        ]  # fmt: skip
        return m
