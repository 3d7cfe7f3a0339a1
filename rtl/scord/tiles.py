"""The whole ScoRD detector as tiles, joined by crossbars.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.gpu.crossbar import Crossbar
from racetrap.rtl.gpu.report_path import ReportPath
from racetrap.rtl.gpu.system import ReportParts
from racetrap.rtl.gpu.tiles import GpuTiles
from racetrap.rtl.scord.slice_unit import SliceUnit
from racetrap.rtl.scord.sm_unit import SmUnit
from racetrap.rtl.scord.system import ScordSystem


class TileNetwork(wiring.Component):
    """Crossbars for requests and for responses.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_packet, o_packet : ``In`` and ``Out(stream.Signature(request_layout))``
        Requests of each SM unit, and for each slice unit.
    i_response, o_response : ``In`` and ``Out(stream.Signature(response_layout))``
        Responses of each slice unit, and for each SM unit.
    o_idle : ``Out(1)``
        Always high: the SM units find out what is in flight.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        request = stream.Signature(struct_layout(params.request_layout))
        response = stream.Signature(struct_layout(params.response_layout))
        super().__init__({
            "i_packet": In(request).array(params.sm_count),
            "o_packet": Out(request).array(params.metadata_ports),
            "i_response": In(response).array(params.metadata_ports),
            "o_response": Out(response).array(params.sm_count),
            "o_idle": Out(1, init=1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        sms, slices = params.sm_count, params.metadata_ports
        for name, layout, sources, destinations, source, sink in (
            ("requests", params.request_layout, sms, slices, self.i_packet, self.o_packet),
            ("responses", params.response_layout, slices, sms, self.i_response, self.o_response),
        ):
            m.submodules[name] = way = Crossbar(struct_layout(layout), sources, destinations)
            for outer, inner in zip(source, way.i, strict=True):
                wiring.connect(m, wiring.flipped(outer), inner)
            for outer, inner in zip(sink, way.o, strict=True):
                wiring.connect(m, inner, wiring.flipped(outer))
        m.d.comb += self.o_idle.eq(1)
        return m


class ScordTiles(GpuTiles, ScordSystem):
    """SM units, slice units, and between them a network, registers and the report path.

    What is checked is as in ``ScordSystem``; the timing of fences differs.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    """

    sm_unit, interleaver, bank = SmUnit, TileNetwork, SliceUnit

    def elaborate(self, platform):
        self._units: list[SmUnit] = []
        m = super().elaborate(platform)
        is_quiet = Cat(unit.o_quiet for unit in self._units).all()
        m.d.comb += [unit.i_ask.eq(is_quiet) for unit in self._units]
        return m

    def _left_out(self, m: Module) -> list[Value]:
        return [unit.o_left_out_words for unit in self._units]

    def _elaborate_unit(self, m: Module, place: int, unit: Any, interleaver: Any) -> None:
        sm = self._sms[place]
        wiring.connect(m, unit.o_request, interleaver.i_packet[place])
        wiring.connect(m, interleaver.o_response[place], unit.i_response)
        m.d.comb += self.o_fencing[sm].eq(unit.o_fencing)
        if self._params.leaves_out:
            m.d.comb += self.o_left_out[sm].eq(unit.o_left_out)
        self._units.append(unit)

    def _elaborate_reports(
        self, m: Module, banks: Sequence[Any], reports: ReportPath
    ) -> ReportParts:
        network: Any = m.submodules.interleaver
        for place, (unit, number) in enumerate(zip(banks, self._ports, strict=True)):
            reported = reports.i[number]
            wiring.connect(m, unit.o_response, network.i_response[place])
            wiring.connect(m, unit.o_report, reported)
            m.d.sync += unit.i_reported.eq(reported.valid & reported.ready)
        return ReportParts([], [], [])
