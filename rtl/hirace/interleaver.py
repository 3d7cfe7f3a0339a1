"""Interleaver: routes the packets of all SMs to the detector banks, by their word.

Ref: HiRace (SC'24) is software; the banks are our addition.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.rtl.common.arbiter import StreamArbiter
from racetrap.rtl.common.layout import struct_layout


class Interleaver(wiring.Component):
    """Crossbar from SMs to banks, each of which serves the SMs round robin.

    Packets of one SM stay in order.  Latency is one cycle, throughput one packet a cycle for each
    bank.  The ready of an SM's port depends on the other SMs' ``valid``, not on its own.

    Parameters
    ----------
    params : HiraceParams
        Configuration.

    Members
    -------
    i_packet : ``In(stream.Signature(segment_layout)).array(sm_count)``
        Packets of each SM's tracker.
    o_packet : ``Out(stream.Signature(segment_layout)).array(banks)``
        Packets for each bank.
    o_idle : ``Out(1)``
        No packet is held here.
    """

    def __init__(self, params: HiraceParams):
        self._params = params
        packet = stream.Signature(struct_layout(params.segment_layout))
        super().__init__({
            "i_packet": In(packet).array(params.sm_count),
            "o_packet": Out(packet).array(params.banks),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        arbiters = []
        for bank, port in enumerate(self.o_packet):
            arbiter = StreamArbiter(struct_layout(params.segment_layout), params.sm_count)
            m.submodules[f"arbiter_{bank}"] = arbiter
            wiring.connect(m, arbiter.o, wiring.flipped(port))
            arbiters.append(arbiter)
        for sm, port in enumerate(self.i_packet):
            number = port.payload.word[: params.port_bits]
            turns = []
            for bank, arbiter in enumerate(arbiters):
                is_there = number == bank if params.port_bits else 1
                sink = arbiter.i[sm]
                m.d.comb += [
                    sink.payload.eq(port.payload), sink.valid.eq(port.valid & is_there),
                ]  # fmt: skip
                turns.append(sink.ready & is_there)
            m.d.comb += port.ready.eq(Cat(turns).any())
        m.d.comb += self.o_idle.eq(~Cat(port.valid for port in self.o_packet).any())
        return m
