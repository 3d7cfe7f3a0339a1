"""Interleaver: routes the packets of all SMs to the detector banks.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6 (the interconnect; the banks are our addition).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.gpu.params import WORD_BYTES
from racetrap.golden_model.scord.packets import PacketKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.arbiter import VectorArbiter
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.scord.fence_collector import FenceCollector


class Interleaver(wiring.Component):
    """Crossbar from SMs to banks: an access goes to its bank, a fence to every bank.

    Banks that share a metadata port are one here.  The bank of an access follows from the low part
    of its granule's number, whether or not the address is monitored.  Each bank serves the SMs
    round robin, with bundles of fences as one more input; accesses of one SM stay in order.
    Latency is one cycle, throughput one packet a cycle for each bank.

    A fence leaves its SM's port at once, after all earlier accesses, and may be overtaken by later
    ones: its warp must send nothing until ``o_fenced``.  The ready of an SM's port depends on the
    other SMs' ``valid``, not on its own.

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
        params, segment = self._params, struct_layout(self._params.segment_layout)
        m.submodules.fences = fences = FenceCollector(params)
        routers = []
        for sm, port in enumerate(self.i_packet):
            m.submodules[f"router_{sm}"] = router = PacketRouter(params)
            wiring.connect(m, wiring.flipped(port), router.i)
            wiring.connect(m, router.o_fence, fences.i[sm])
            m.d.comb += self.o_fenced[sm].eq(fences.o_fenced[sm])
            routers.append(router)
        packets = Signal(params.sm_count * segment.size)
        m.d.comb += packets.eq(Cat(port.payload for port in self.i_packet))
        readies = []
        for bank, (port, fence) in enumerate(zip(self.o_packet, fences.o, strict=True)):
            m.submodules[f"arbiter_{bank}"] = arbiter = VectorArbiter(segment, len(routers) + 1)
            wiring.connect(m, arbiter.o, wiring.flipped(port))
            # Into the same register as accesses: those that have left an SM's port are not
            # overtaken.
            m.d.comb += [
                arbiter.i_payload.eq(Cat(packets, fence.payload)),
                arbiter.i_valid.eq(Cat((router.o_valid[bank] for router in routers), fence.valid)),
                fence.ready.eq(arbiter.o_ready[-1]),
            ]
            readies.append(arbiter.o_ready)
        for sm, router in enumerate(routers):
            m.d.comb += router.i_ready.eq(Cat(ready[sm] for ready in readies))
        nothing_held = ~Cat(port.valid for port in self.o_packet).any()
        m.d.comb += self.o_idle.eq(nothing_held & fences.o_idle)
        return m


def port_number(params: ScordParams, packet: data.View) -> Value:
    """Metadata port of an access, from the low part of its granule's number."""
    segment = params.granularity_bits - (WORD_BYTES.bit_length() - 1) + params.lane_bits
    residue = segment + params.port_bits
    return Cat(
        packet.word[segment:residue],
        packet.word[residue : residue + params.residue_bits] % params.odd_ports,
    )


class PacketRouter(wiring.Component):
    """Routes a packet of one SM to its port or to the fence collector.  Combinational.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(segment_layout))``
        Packets of the SM.
    o_valid : ``Out(metadata_ports)``, i_ready : ``In(metadata_ports)``
        For each metadata port, whether an access goes there, and whether it is taken.
    o_fence : ``Out(stream.Signature(fence_layout))``
        Fences.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(struct_layout(params.segment_layout))),
            "o_valid": Out(params.metadata_ports),
            "i_ready": In(params.metadata_ports),
            "o_fence": Out(stream.Signature(struct_layout(params.fence_layout))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params, packet = self._params, self.i.payload
        number = port_number(params, packet)
        is_fence = packet.kind == PacketKind.FENCE
        wanted = Signal(params.metadata_ports)
        m.d.comb += [
            wanted.eq(1 << number),
            self.o_valid.eq(wanted & (self.i.valid & ~is_fence).replicate(len(wanted))),
            self.o_fence.valid.eq(self.i.valid & is_fence),
            self.i.ready.eq(Mux(is_fence, self.o_fence.ready, (self.i_ready & wanted).any())),
        ]
        m.d.comb += [
            self.o_fence.payload[name].eq(packet[name]) for name in params.fence_layout.fields
        ]
        return m
