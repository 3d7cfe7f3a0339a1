"""Crossbar of packets that name their destination, as it joins the tiles of a detector."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.rtl.common.arbiter import VectorArbiter


class Crossbar(wiring.Component):
    """Takes packets to their destinations, each of which serves the sources round robin.

    Packets from one source to one destination stay in order.  Latency is one cycle, throughput one
    packet a cycle for each destination.  The ready of a source depends on the other sources'
    ``valid``, not on its own.

    Parameters
    ----------
    shape : ShapeLike
        Shape of a packet, with a field ``destination``.
    sources, destinations : int
        Number of each.

    Members
    -------
    i : ``In(stream.Signature(shape)).array(sources)``
        Packets of each source.
    o : ``Out(stream.Signature(shape)).array(destinations)``
        Packets for each destination.
    """

    def __init__(self, shape: ShapeLike, sources: int, destinations: int):
        self._shape = shape
        packet = stream.Signature(shape)
        super().__init__({"i": In(packet).array(sources), "o": Out(packet).array(destinations)})

    def elaborate(self, platform):
        m = Module()
        payloads = Cat(port.payload for port in self.i)
        turns = []
        for number, port in enumerate(self.o):
            m.submodules[f"arbiter_{number}"] = arbiter = VectorArbiter(self._shape, len(self.i))
            wiring.connect(m, arbiter.o, wiring.flipped(port))
            is_there = Cat(source.payload.destination == number for source in self.i)
            m.d.comb += [
                arbiter.i_payload.eq(payloads),
                arbiter.i_valid.eq(Cat(source.valid for source in self.i) & is_there),
            ]
            turns.append(arbiter.o_ready & is_there)
        for sm, source in enumerate(self.i):
            m.d.comb += source.ready.eq(Cat(turn[sm] for turn in turns).any())
        return m
