"""Arbiter of the example systems: two masters at one memory."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.rtl.soc.bus import MemorySignature


class MemoryArbiter(wiring.Component):
    """Passes one access at a time, in the cycle in which it comes if memory is free.

    If both masters wait, the one goes that did not go last.  A master whose access has begun keeps
    memory until the answer.

    Members
    -------
    masters : ``In(MemorySignature) x 2``
        Accesses.
    memory : ``Out(MemorySignature)``
        Memory.
    """

    def __init__(self) -> None:
        super().__init__({
            "masters": In(MemorySignature()).array(2), "memory": Out(MemorySignature())
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        memory, (first, other) = self.memory, self.masters
        last, chosen, is_under_way = Signal(), Signal(), Signal()
        m.d.comb += [
            chosen.eq(Mux(is_under_way, last, Mux(last, ~first.valid, other.valid))),
            memory.valid.eq(Mux(chosen, other.valid, first.valid)),
        ]
        m.d.sync += is_under_way.eq(memory.valid & ~memory.ready)
        with m.If(memory.valid):
            m.d.sync += last.eq(chosen)
        for name in ("address", "wdata", "wstrb"):
            m.d.comb += getattr(memory, name).eq(
                Mux(chosen, getattr(other, name), getattr(first, name))
            )
        for number, master in enumerate(self.masters):
            m.d.comb += [
                master.ready.eq(memory.ready & (chosen == number)),
                master.rdata.eq(memory.rdata),
            ]
        return m
