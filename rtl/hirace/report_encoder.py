"""Report encoder: from a step that found a race to its record.

Ref: HiRace (SC'24): the word names the thread of the previous access.
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.rtl.common.layout import struct_layout


class ReportEncoder(wiring.Component):
    """Fills in every field of a report but its sequence number.  Combinational.

    Parameters
    ----------
    params : HiraceParams
        Configuration.

    Members
    -------
    i_bank : ``In(range(banks))``
        Number of the bank, a constant.
    i_step : ``In(step_layout)``
        Step with a race.
    o_report : ``Out(report_layout)``
        Its report; ``state`` and the fields ``owner_*`` are of the entry that the access found.
    """

    def __init__(self, params: HiraceParams):
        self._params = params
        super().__init__({
            "i_bank": In(range(params.banks)),
            "i_step": In(struct_layout(params.step_layout)),
            "o_report": Out(struct_layout(params.report_layout)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        step, report = self.i_step, self.o_report
        owner = Signal(struct_layout(self._params.entry_layout))
        m.d.comb += [
            owner.eq(step.before),
            report.address.eq(step.packet.word << 2),
            report.state.eq(owner.state),
            report.bank.eq(self.i_bank),
        ]
        for field in ("pc", "block", "warp", "lane", "kind", "scope", "shared"):
            m.d.comb += report[field].eq(step.packet[field])
        for field in ("race", "relation", "sync"):
            m.d.comb += report[field].eq(step[field])
        for field in ("block", "warp", "lane"):
            m.d.comb += report[f"owner_{field}"].eq(owner[field])
        return m
