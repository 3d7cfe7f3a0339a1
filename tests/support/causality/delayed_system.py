"""The causality system with streams between its tiles that take any time."""

from __future__ import annotations

from random import Random
from typing import Any

from amaranth.hdl import Module, ShapeLike, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.rtl.causality.system import CausalitySystem
from racetrap.rtl.causality.tiles import CausalityTiles
from racetrap.rtl.common.stream import StreamFifo

#: Payloads that are on their way, and more than ever are without back-pressure.
_PLACES, _MANY = 3, 128


class StreamDelay(wiring.Component):
    """A stream whose payloads come out in order, each after a random time.

    Parameters
    ----------
    shape : ShapeLike
        Shape of the payload.
    always_ready : bool
        Whether the stream has no back-pressure.
    seed : str
        Of the times.
    """

    def __init__(self, shape: ShapeLike, always_ready: bool, seed: str):
        self._rng = Random(seed)
        self._shape, self._always_ready = shape, always_ready
        signature = stream.Signature(shape, always_ready=always_ready)
        super().__init__({"i": In(signature), "o": Out(signature), "o_idle": Out(1)})

    def elaborate(self, platform):
        m = Module()
        places = _MANY if self._always_ready else _PLACES
        m.submodules.fifo = fifo = StreamFifo(self._shape, places)
        noise, shown, shows = Signal(16, init=self._rng.randrange(1, 1 << 16)), Signal(), Signal()
        rate = self._rng.choice((1, 2, 3))
        m.d.sync += [
            noise.eq((noise << 1) | (noise[15] ^ noise[13] ^ noise[12] ^ noise[10])),
            shown.eq(self.o.valid & ~self.o.ready),
        ]
        m.d.comb += [
            shows.eq(shown | noise[:rate].all()),
            self.o.valid.eq(fifo.o.valid & shows), fifo.o.ready.eq(self.o.ready & shows),
            self.o.payload.eq(fifo.o.payload),
            fifo.i.valid.eq(self.i.valid), fifo.i.payload.eq(self.i.payload),
            self.o_idle.eq(fifo.o_empty),
        ]  # fmt: skip
        if not self._always_ready:
            m.d.comb += self.i.ready.eq(fifo.i.ready)
        return m


def _delay(m: Module, name: str, source: Any, sink: Any) -> StreamDelay:
    """Connect two streams by one that takes any time."""
    delay = StreamDelay(source.payload.shape(), source.signature.always_ready, name)
    m.submodules[f"delay_{name}"] = delay
    wiring.connect(m, source, delay.i)
    wiring.connect(m, delay.o, sink)
    return delay


class DelayedTiles(CausalityTiles):
    """Tiles that must find themselves when nothing is on its way."""

    def _cross(self, m: Module, name: str, source: Any, sink: Any) -> None:
        _delay(m, name, source, sink)


class DelayedSystem(CausalitySystem):
    """A system that is launched, and idle, when nothing is on its way."""

    def elaborate(self, platform):
        self._delays: list[StreamDelay] = []
        return super().elaborate(platform)

    def _cross(self, m: Module, name: str, source: Any, sink: Any) -> None:
        self._delays.append(_delay(m, name, source, sink))

    def _elaborate_reports(self, m: Module, banks: Any, reports: Any) -> Any:
        parts = super()._elaborate_reports(m, banks, reports)
        idle = [*parts.idle, *(delay.o_idle for delay in self._delays)]
        return parts._replace(idle=idle)
