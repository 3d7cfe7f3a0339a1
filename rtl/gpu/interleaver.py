"""Interleaver: routes the packets of all SMs to the detector banks, by their word.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6 (the interconnect; the banks are our addition).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.common.arbiter import StreamArbiter
from racetrap.rtl.common.layout import struct_layout


class Interleaver(wiring.Component):
    """Crossbar from SMs to banks, each of which serves the SMs round robin.

    Packets of one SM stay in order.  Latency is one cycle, throughput one packet a cycle for each
    bank.  The ready of an SM's port depends on the other SMs' ``valid``, not on its own.

    Parameters
    ----------
    params : GpuParams
        Configuration; the number of banks is a power of two.
    ports : mapping, optional
        Members of the detector's own.
    sms : int or None
        SMs that are there; None: all.

    Members
    -------
    i_packet : ``In(stream.Signature(segment_layout)).array(sms)``
        Packets of each SM's tracker.
    o_packet : ``Out(stream.Signature(segment_layout)).array(banks)``
        Packets for each bank.
    o_idle : ``Out(1)``
        No packet is held here.
    """

    def __init__(
        self, params: GpuParams, ports: Mapping[str, Any] | None = None, sms: int | None = None
    ):  # fmt: skip
        self._params: Any = params
        packet = stream.Signature(struct_layout(params.segment_layout))
        super().__init__({
            "i_packet": In(packet).array(params.sm_count if sms is None else sms),
            "o_packet": Out(packet).array(params.banks),
            "o_idle": Out(1),
            **(ports or {}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        arbiters = []
        for bank, port in enumerate(self.o_packet):
            arbiter = StreamArbiter(struct_layout(params.segment_layout), len(self.i_packet))
            m.submodules[f"arbiter_{bank}"] = arbiter
            wiring.connect(m, arbiter.o, wiring.flipped(port))
            arbiters.append(arbiter)
        for sm, port in enumerate(self.i_packet):
            self._elaborate_way(m, port, [arbiter.i[sm] for arbiter in arbiters])
        m.d.comb += self.o_idle.eq(~Cat(port.valid for port in self.o_packet).any())
        return m

    def _is_of_bank(self, packet: Any, bank: int) -> Value | int:
        """Whether a packet's word is of a bank."""
        bits = self._params.port_bits
        return packet.word[:bits] == bank if bits else 1

    def _elaborate_way(self, m: Module, port: Any, sinks: Sequence[Any]) -> None:
        """Connect the packets of an SM with their places at the banks' arbiters."""
        turns = []
        for bank, sink in enumerate(sinks):
            is_there = self._is_of_bank(port.payload, bank)
            m.d.comb += [sink.payload.eq(port.payload), sink.valid.eq(port.valid & is_there)]
            turns.append(sink.ready & is_there)
        m.d.comb += port.ready.eq(Cat(turns).any())
