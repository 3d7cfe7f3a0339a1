"""Interleaver: routes the packets of all SMs to the detector banks.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6 (the interconnect; the banked detector is ours).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.packets import PacketKind
from racetrap.golden_model.scord.params import WORD_BYTES, ScordParams
from racetrap.rtl.common.arbiter import StreamArbiter
from racetrap.rtl.common.layout import struct_layout

__all__ = ["Interleaver"]


class Interleaver(wiring.Component):
    """Crossbar from SMs to banks: an access goes to its bank, a fence to every bank.

    Banks that share a metadata port are one here.  The bank of an access is the low part of its
    granule's number, whether or not the
    address is monitored.  Each bank serves the SMs round robin; packets of one SM stay in
    order.  A fence leaves its SM's port when the last bank takes it.  Latency is one cycle,
    throughput one packet a cycle for each bank.  The ready of an SM's port depends on the other
    SMs' ``valid``, not on its own.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_packet : ``In(stream.Signature(segment_layout)).array(sm_count)``
        Packets of each SM's tracker.
    o_packet : ``Out(stream.Signature(segment_layout)).array(metadata_ports)``
        Packets for the banks of each port.
    o_idle : ``Out(1)``
        No packet is held here.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        packet = stream.Signature(struct_layout(params.segment_layout))
        super().__init__({
            "i_packet": In(packet).array(params.sm_count),
            "o_packet": Out(packet).array(params.metadata_ports),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        arbiters = []
        for bank, port in enumerate(self.o_packet):
            arbiter = StreamArbiter(
                struct_layout(self._params.segment_layout), self._params.sm_count
            )
            m.submodules[f"arbiter_{bank}"] = arbiter
            wiring.connect(m, arbiter.o, wiring.flipped(port))
            arbiters.append(arbiter)
        for sm in range(self._params.sm_count):
            self._elaborate_route(m, self.i_packet[sm], [arbiter.i[sm] for arbiter in arbiters])
        m.d.comb += self.o_idle.eq(~Cat(port.valid for port in self.o_packet).any())
        return m

    def _elaborate_route(self, m: Module, port, banks):
        """Connect one SM's port with its input of each bank's arbiter."""
        params = self._params
        low = params.granularity_bits - (WORD_BYTES.bit_length() - 1)
        number = port.payload.word[low + params.lane_bits : low + params.bank_bits]
        is_fence = port.payload.kind == PacketKind.FENCE
        ready = Cat(bank.ready for bank in banks)
        done = Signal(len(banks))  # banks that have the fence already
        wanted = Signal(len(banks))
        m.d.comb += [
            wanted.eq(Mux(is_fence, ~done, 1 << number)),
            port.ready.eq(~(wanted & ~ready).any()),
        ]
        for bank, is_wanted in zip(banks, wanted, strict=True):
            m.d.comb += [
                bank.payload.eq(port.payload),
                bank.valid.eq(port.valid & is_wanted),
            ]
        with m.If(port.ready):
            m.d.sync += done.eq(0)
        with m.Elif(port.valid & is_fence):
            m.d.sync += done.eq(done | ready)
