"""A network with random delays instead of the crossbar between tiles."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from random import Random
from typing import Any

from amaranth.hdl import Cat, Module, Mux, ShapeLike, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.rtl.common.arbiter import VectorArbiter
from racetrap.rtl.common.stream import StreamFifo


class DelayedCrossbar(wiring.Component):
    """Packets of a pair of source and destination stay in order; nothing else does.

    The way of each pair is open or shut: it shuts behind one packet in four, for up to 511 cycles,
    mostly fewer.

    Parameters
    ----------
    shape : ShapeLike
        Shape of a packet, with a field ``destination``.
    sources : int
        Number of them.
    destinations : sequence of collection of int
        For each place, the destinations that are there.

    Members
    -------
    i, o : ``In`` and ``Out(stream.Signature(shape)).array(...)``
        Packets of each source, and for each place.
    """

    def __init__(
        self, shape: ShapeLike, sources: int, destinations: Sequence[Collection[int]]
    ):  # fmt: skip
        self._shape, self._destinations = shape, [sorted(each) for each in destinations]
        packet = stream.Signature(shape)
        super().__init__({
            "i": In(packet).array(sources), "o": Out(packet).array(len(destinations)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        turns: list[list[Any]] = [[] for _ in self.i]
        rng = Random(len(self.i) + 1000 * len(self.o))
        for number, port in enumerate(self.o):
            m.submodules[f"arbiter_{number}"] = arbiter = VectorArbiter(self._shape, len(self.i))
            wiring.connect(m, arbiter.o, wiring.flipped(port))
            fifos = []
            for place, source in enumerate(self.i):
                m.submodules[f"fifo_{number}_{place}"] = fifo = StreamFifo(self._shape, 6)
                is_there = Cat(
                    source.payload.destination == each for each in self._destinations[number]
                ).any()
                m.d.comb += [
                    fifo.i.payload.eq(source.payload),
                    fifo.i.valid.eq(source.valid & is_there),
                ]
                turns[place].append(fifo.i.ready & is_there)
                is_open = self._open(m, rng, fifo.o)
                fifos.append((fifo.o, is_open))
            m.d.comb += [
                arbiter.i_payload.eq(Cat(fifo.payload for fifo, _ in fifos)),
                arbiter.i_valid.eq(Cat(fifo.valid & is_open for fifo, is_open in fifos)),
                Cat(fifo.ready for fifo, _ in fifos).eq(
                    arbiter.o_ready & Cat(is_open for _, is_open in fifos)
                ),
            ]
        for source, turn in zip(self.i, turns, strict=True):
            m.d.comb += source.ready.eq(Cat(turn).any())
        return m

    def _open(self, m: Module, rng: Random, way: Any) -> Signal:
        """Whether a way is open; it shuts for a random time, which its packets change, too."""
        noise = Signal(31, init=rng.randrange(1, 1 << 31))
        shut, is_open = Signal(9), Signal()
        passes = way.valid & way.ready
        longest = Mux(noise[8], 0x1F, Mux(noise[9], 0x7F, 0x1FF))
        m.d.comb += is_open.eq(shut == 0)
        m.d.sync += noise.eq(
            Cat(noise[30] ^ noise[27], noise[:30])
            ^ (way.payload.as_value()[-24:] & passes.replicate(24))
        )
        with m.If(passes & noise[10:12].all()):
            m.d.sync += shut.eq(noise[12:21] & longest)
        with m.Elif(~is_open):
            m.d.sync += shut.eq(shut - 1)
        return is_open
