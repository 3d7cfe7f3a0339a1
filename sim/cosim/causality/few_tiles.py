"""A few of causality's tiles around the middle of the whole GPU; all streams take any time.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section VI.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from amaranth.hdl import Cat, Module, ShapeLike, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.interleaver import Interleaver
from racetrap.rtl.causality.notice_order import packets_in_flight
from racetrap.rtl.causality.slice_unit import SliceUnit
from racetrap.rtl.causality.tiles import CausalityTiles
from racetrap.rtl.common.stream import StreamFifo
from racetrap.sim.cosim.gpu.tile_places import TilePlaces

#: Payloads that are on their way with back-pressure, and without beside what banks tell of packets.
_PLACES, _MANY = 3, 128
#: Cycles after which an absent slice answers: a bank's pipeline takes some.
_ANSWER = 8
#: Streams to and from SM units.
_OF_SMS = ("packet", "marker", "resume")


class StreamDelay(wiring.Component):
    """A stream whose payloads come out in order, each after a random time.

    Parameters
    ----------
    shape : ShapeLike
        Shape of the payload.
    always_ready : bool
        Whether the stream has no back-pressure.
    most : int
        Payloads that are then on their way at most.
    seed : str
        Of the times.
    """

    def __init__(self, shape: ShapeLike, always_ready: bool, most: int, seed: str):
        self._rng = Random(seed)
        self._shape, self._always_ready = shape, always_ready
        self._places = most if always_ready else _PLACES
        signature = stream.Signature(shape, always_ready=always_ready)
        super().__init__({"i": In(signature), "o": Out(signature), "o_idle": Out(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.fifo = fifo = StreamFifo(self._shape, self._places)
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


def delay_stream(
    m: Module, params: CausalityParams, name: str, source: Any, sink: Any
) -> StreamDelay:
    """Connect two streams by one that takes any time."""
    most = packets_in_flight(params) + _MANY
    delay = StreamDelay(source.payload.shape(), source.signature.always_ready, most, name)
    m.submodules[f"delay_{name}"] = delay
    wiring.connect(m, source, delay.i)
    wiring.connect(m, delay.o, sink)
    return delay


class AbsentSlice(wiring.Component):
    """What stands for a slice unit that is not there: no access comes to it, the rest it answers.

    Parameters
    ----------
    members : mapping
        Those of a slice unit.
    """

    def __init__(self, members: Mapping[str, Any]):
        super().__init__(dict(members.items()))

    def elaborate(self, platform):
        m = Module()
        rows, packets = (Signal(_ANSWER, name=name) for name in ("rows", "packets"))
        m.d.comb += [
            self.i_row.ready.eq(1), self.i_packet.ready.eq(1), self.o_idle.eq(1),
            self.o_done.valid.eq(rows[-1] | packets[-1]),
            self.o_done.payload.row.eq(rows[-1]),
            self.o_done.payload.packet.eq(packets[-1]),
        ]  # fmt: skip
        m.d.sync += [
            rows.eq(Cat(self.i_row.valid, rows)),
            packets.eq(Cat(self.i_packet.valid, packets)),
            self.o_cleared.eq(self.i_clear),
        ]
        return m


class FewTiles(CausalityTiles):
    """Tiles that must find themselves when nothing is on its way.

    Ports and registers are those of the whole GPU.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    """

    def __init__(self, params: CausalityParams):
        super().__init__(params)
        places = TilePlaces(params)
        self._sms, self._there = places.sms, places.ports

    def _make_interleaver(self) -> Interleaver:
        return Interleaver(self._params, len(self._sms))

    def _make_bank(self, number: int) -> Any:
        if number in self._there:
            self._unit = SliceUnit(self._params)
            return self._unit
        # The first is there.
        return AbsentSlice(self._unit.signature.members)

    def _cross(self, m: Module, name: str, source: Any, sink: Any) -> None:
        """Absent slices answer at once."""
        kind, _, number = name.rpartition("_")
        if kind in _OF_SMS or int(number) in self._there:
            delay_stream(m, self._params, name, source, sink)
        else:
            wiring.connect(m, source, sink)
