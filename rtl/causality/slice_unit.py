"""Slice unit: the tile of a bank, from its packets to notices.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section VI.
"""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.detector_bank import DetectorBank
from racetrap.rtl.common.ports import forward_ports, ports_like
from racetrap.rtl.gpu.local_memory import LocalMemory
from racetrap.rtl.gpu.tile_launch import clear_by_level


class SliceUnit(wiring.Component):
    """A bank with its memory, if that is on chip.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_port, i_packet, i_row, o_done, o_report, o_count, i_region, i_attributes, trace
        As those of ``DetectorBank``; what it reports are notices.
    m_axi_metadata : ``Out(metadata_port(params))``
        Metadata in memory; absent if metadata are on chip.
    i_clear, o_cleared : ``In(1)``, ``Out(1)``
        Forget the previous launch, as of ``TileClear``.
    o_idle : ``Out(1)``
        No packet, write or notice is pending here.
    """

    def __init__(self, params: CausalityParams):
        self._params = params
        self._bank = bank = DetectorBank(params)
        members = bank.signature.members
        super().__init__({
            **ports_like(bank, "i_port", "i_packet", "i_row", "o_done", *bank.settings(params)),
            **ports_like(bank, "o_report", "o_count"),
            **({} if params.local_bytes else {"m_axi_metadata": members["m_axi"]}),
            "i_clear": In(1),
            "o_cleared": Out(1),
            "o_idle": Out(1),
            **(ports_like(bank, "trace") if params.trace_port else {}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.bank = bank = self._bank
        clear_by_level(m, self, bank)
        for name in ("i_packet", "i_row"):
            wiring.connect(m, wiring.flipped(getattr(self, name)), getattr(bank, name))
        wiring.connect(m, bank.o_done, wiring.flipped(self.o_done))
        wiring.connect(m, bank.o_report[0], wiring.flipped(self.o_report[0]))
        forward_ports(m, self, bank, "i_port", *bank.settings(self._params))
        m.d.comb += [
            self.o_idle.eq(bank.o_idle),
            self.o_count[0].eq(bank.o_count[0]),
        ]
        if self._params.trace_port:
            wiring.connect(m, bank.trace[0], wiring.flipped(self.trace[0]))
        if self._params.local_bytes:
            m.submodules.local_memory = memory = LocalMemory(self._params)
            wiring.connect(m, bank.m_axi, memory.s_axi)
        else:
            wiring.connect(m, bank.m_axi, wiring.flipped(self.m_axi_metadata))
        return m
