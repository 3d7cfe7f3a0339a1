"""Report encoder: a step that found a race, as a race report.

Ref: ScoRD (ISCA'20) Section IV ("ScoRD reports the instruction pointer and the data address").
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout


class ReportEncoder(wiring.Component):
    """Fills in every field of a report but its sequence number.  Combinational.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_bank : ``In(range(banks))``
        Number of the bank, a constant.
    i_step : ``In(step_layout)``
        Step with a race.
    o_report : ``Out(report_layout)``
        Its report; the fields ``owner_*`` are of the entry that the access found.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        super().__init__({
            "i_bank": In(range(params.banks)),
            "i_step": In(struct_layout(params.step_layout)),
            "o_report": Out(struct_layout(params.report_layout)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        packet, report = self.i_step.packet, self.o_report
        owner = Signal(struct_layout(self._params.entry_layout))
        other_block = owner.block != packet.block
        if len(packet.generation):
            other_block |= owner.generation != packet.generation
        m.d.comb += [
            owner.eq(self.i_step.before),
            report.address.eq(packet.word << 2),
            report.race.eq(self.i_step.race),
            report.device_race.eq(other_block),
            report.bank.eq(self.i_bank),
        ]
        for field in ("pc", "block", "warp", "kind", "filter", "scope", "strong"):
            m.d.comb += report[field].eq(packet[field])
        for field in (
            "block", "warp", "filter", "strong", "scope", "is_atom",
            "dev_shared", "blk_shared", "modified",
        ):  # fmt: skip
            m.d.comb += report[f"owner_{field}"].eq(owner[field])
        return m
