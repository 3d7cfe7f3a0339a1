"""Interleaver: accesses to the bank of their word, everything else to every bank.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6 (the interconnect; the banks are our addition).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.packets import PacketKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.gpu.interleaver import Interleaver as GpuInterleaver


class Interleaver(GpuInterleaver):
    """Crossbar from SMs to banks, which serve the SMs round robin.

    Packets of one SM stay in order in each bank, and one leaves its port before the next is
    offered to any bank: each bank takes a copy of one for all when it can, and the SM's port is
    ready with the last.  Latency is one cycle, throughput one packet a cycle for each bank.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    sms : int or None
        SMs that are there; None: all.

    Members
    -------
    i_packet, o_packet, o_idle
        As those of ``rtl.gpu.interleaver``.
    i_hold : ``In(1)``
        Take no packet, nor a copy of one.
    o_taken : ``Out(banks)``
        Pulse for each bank: a packet for it is taken that is no mark.
    """

    def __init__(self, params: CausalityParams, sms: int | None = None):
        super().__init__(params, {"i_hold": In(1), "o_taken": Out(params.banks)}, sms)

    def elaborate(self, platform):
        m = super().elaborate(platform)
        for bank, taken in enumerate(self.o_taken):
            arbiter: Any = m.submodules[f"arbiter_{bank}"]
            takes = [
                sink.valid & sink.ready & (sink.payload.kind != PacketKind.MARK)
                for sink in arbiter.i
            ]
            m.d.comb += taken.eq(Cat(takes).any())
        return m

    def _elaborate_way(self, m: Module, port: Any, sinks: Sequence[Any]) -> None:
        goes, has, takes = (Signal(len(sinks), name=name) for name in ("goes", "has", "takes"))
        is_for_all = port.payload.kind > PacketKind.ATOMIC
        for bank, sink in enumerate(sinks):
            is_there = self._is_of_bank(port.payload, bank) | is_for_all
            m.d.comb += [
                goes[bank].eq(is_there & ~has[bank]),
                sink.payload.eq(port.payload),
                sink.valid.eq(port.valid & goes[bank] & ~self.i_hold),
                takes[bank].eq(sink.ready & ~self.i_hold),
            ]
        m.d.comb += port.ready.eq((takes | ~goes).all())
        with m.If(port.valid):
            m.d.sync += has.eq((has | takes) & ~port.ready.replicate(len(sinks)))
