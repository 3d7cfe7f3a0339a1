"""Slice unit: the tile of a metadata port, from requests to race reports.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Const, Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.arbiter import StreamArbiter
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.ports import forward_ports, ports_like
from racetrap.rtl.gpu.local_memory import LocalMemory
from racetrap.rtl.gpu.tile_launch import clear_by_level, send_at_most
from racetrap.rtl.scord.detector_bank import DetectorBank
from racetrap.rtl.scord.request_receiver import RequestReceiver

#: Reports that may be on their way to the ring's queue.
_REPORTS = 15


class SliceUnit(wiring.Component):
    """Request receiver, banks of a metadata port and queue of reports.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_port : ``In(range(metadata_ports))``
        Number of the metadata port, a constant.
    i_packet, o_response : ``In(stream.Signature(request_layout))``, ``Out(...response_layout)``
        Packets of the SM units, and answers.
    o_report, i_reported : ``Out(stream.Signature(report_layout))``, ``In(1)``
        Race reports; a pulse for each that has reached the ring's queue.
    o_idle : ``Out(1)``
        All that was accepted is complete.
    m_axi_metadata : ``Out(metadata_port(params))``
        Metadata in memory; absent if metadata are on chip.
    i_region : ``In(region_layout(params))``
        Monitored region; it changes only before ``i_clear`` rises.
    i_attributes : ``In(attributes_layout())``
        AxPROT and AxCACHE of ``m_axi_metadata``, likewise; only with ``protection``.
    i_clear, o_cleared : ``In(1)``, ``Out(1)``
        Forget the previous launch, as of ``TileClear``.
    o_count : ``Out(ArrayLayout(pulses, words_per_cycle))``
        Events of a cycle that are counted, by bank.
    trace, trace_fences
        As those of ``DetectorBank``.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        self._bank = bank = DetectorBank(params)
        traces = ("trace", "trace_fences") if params.trace_port else ()
        pulses = bank.o_count[0].shape()
        super().__init__({
            **ports_like(bank, "i_port", *bank.settings(params)),
            "i_packet": In(stream.Signature(struct_layout(params.request_layout))),
            "o_response": Out(stream.Signature(struct_layout(params.response_layout))),
            "o_report": Out(stream.Signature(struct_layout(params.report_layout))),
            "i_reported": In(1),
            "o_idle": Out(1),
            **({} if params.local_bytes else {"m_axi_metadata": bank.signature.members["m_axi"]}),
            "i_clear": In(1),
            "o_cleared": Out(1),
            "o_count": Out(data.ArrayLayout(pulses, params.words_per_cycle)),
            **ports_like(bank, *traces),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.bank = bank = self._bank
        m.submodules.receiver = receiver = RequestReceiver(self._params)
        clear_by_level(m, self, bank)
        wiring.connect(m, wiring.flipped(self.i_packet), receiver.i_request)
        wiring.connect(m, receiver.o_packet, bank.i_packet)
        wiring.connect(m, receiver.o_response, wiring.flipped(self.o_response))
        has_reported = self._elaborate_reports(m, bank)
        forward_ports(m, self, bank, "i_port", *bank.settings(self._params))
        m.d.comb += [
            self.o_idle.eq(bank.o_idle & has_reported),
            receiver.i_idle.eq(self.o_idle),
            *(outer.eq(inner) for outer, inner in zip(self.o_count, bank.o_count, strict=True)),
        ]
        self._elaborate_memory(m, bank)
        if self._params.trace_port:
            for name in ("trace", "trace_fences"):
                for inner, outer in zip(getattr(bank, name), getattr(self, name), strict=True):
                    wiring.connect(m, inner, wiring.flipped(outer))
        return m

    def _elaborate_memory(self, m: Module, bank: DetectorBank) -> None:
        if self._params.local_bytes:
            m.submodules.local_memory = memory = LocalMemory(self._params)
            wiring.connect(m, bank.m_axi, memory.s_axi)
        else:
            wiring.connect(m, bank.m_axi, wiring.flipped(self.m_axi_metadata))

    def _elaborate_reports(self, m: Module, bank: DetectorBank) -> Any:
        """Merge the banks' reports; whether all have reached the ring's queue."""
        reports, is_empty = bank.o_report[0], Const(1)
        if len(bank.o_report) > 1:
            shape = struct_layout(self._params.report_layout)
            m.submodules.report_arbiter = arbiter = StreamArbiter(shape, len(bank.o_report))
            for lane, port in zip(bank.o_report, arbiter.i, strict=True):
                wiring.connect(m, lane, port)
            reports, is_empty = arbiter.o, ~arbiter.o.valid
        sent = send_at_most(m, _REPORTS, reports, self.o_report, self.i_reported)
        return is_empty & ~sent.any()
