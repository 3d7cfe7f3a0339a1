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
from racetrap.rtl.scord.fence_collector import FenceCollector

__all__ = ["Interleaver"]


class Interleaver(wiring.Component):
    """Crossbar from SMs to banks: an access goes to its bank, a fence to every bank.

    Banks that share a metadata port are one here.  The bank of an access follows from the low part
    of its granule's number, whether or not the address is monitored.  Each bank serves the SMs
    round robin, and bundles of fences as if they were of one SM more; accesses of one SM stay in
    order.  Latency is one cycle, throughput one packet a cycle for each bank.

    A fence leaves its SM's port at once, behind all accesses that left it before, and goes on
    beside those that come after: its warp must send nothing until ``o_fenced``.  The ready of an
    SM's port depends on the other SMs' ``valid``, not on its own.

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
    o_fenced : ``Out(warps_per_sm).array(sm_count)``
        Pulse for each warp of each SM: every bank has its fence, before whatever comes later.
    o_idle : ``Out(1)``
        No packet is held here.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        packet = stream.Signature(struct_layout(params.segment_layout))
        super().__init__({
            "i_packet": In(packet).array(params.sm_count),
            "o_packet": Out(packet).array(params.metadata_ports),
            "o_fenced": Out(params.warps_per_sm).array(params.sm_count),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        sms = self._params.sm_count
        m.submodules.fences = fences = FenceCollector(self._params)
        arbiters = []
        for bank, port in enumerate(self.o_packet):
            arbiter = StreamArbiter(struct_layout(self._params.segment_layout), sms + 1)
            m.submodules[f"arbiter_{bank}"] = arbiter
            wiring.connect(m, arbiter.o, wiring.flipped(port))
            # Into the same register as accesses: what has left an SM's port is not overtaken.
            wiring.connect(m, fences.o[bank], arbiter.i[sms])
            arbiters.append(arbiter)
        for sm in range(sms):
            banks = [arbiter.i[sm] for arbiter in arbiters]
            self._elaborate_route(m, self.i_packet[sm], banks, fences.i[sm])
            m.d.comb += self.o_fenced[sm].eq(fences.o_fenced[sm])
        nothing_held = ~Cat(port.valid for port in self.o_packet).any()
        m.d.comb += self.o_idle.eq(nothing_held & fences.o_idle)
        return m

    def _elaborate_route(self, m: Module, port, banks, fences):
        """Connect one SM's port with its input of each bank's arbiter, and of the collector."""
        params = self._params
        segment = params.granularity_bits - (WORD_BYTES.bit_length() - 1) + params.lane_bits
        residue = segment + params.port_bits
        number = Cat(
            port.payload.word[segment:residue],
            port.payload.word[residue : residue + params.residue_bits] % params.odd_ports,
        )
        is_fence = port.payload.kind == PacketKind.FENCE
        wanted = Signal(len(banks))
        ready = (Cat(bank.ready for bank in banks) & wanted).any()
        m.d.comb += [
            wanted.eq(1 << number),
            port.ready.eq(Mux(is_fence, fences.ready, ready)),
            fences.valid.eq(port.valid & is_fence),
        ]
        m.d.comb += [
            fences.payload[name].eq(port.payload[name]) for name in params.fence_layout.fields
        ]
        for bank, is_wanted in zip(banks, wanted, strict=True):
            m.d.comb += [
                bank.payload.eq(port.payload),
                bank.valid.eq(port.valid & ~is_fence & is_wanted),
            ]
