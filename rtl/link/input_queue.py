"""Queue of an input channel: bytes in, records out, and the free space."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.rtl.common.stream import StreamFifo


class InputQueue(wiring.Component):
    """Holds records as bytes, and assembles them one after the other.

    Bytes in memory, with one record in flip-flops, are much smaller than wide records in memory,
    and fast enough for a line with at least 80 cycles a byte: a record of n bytes is offered at
    most n + 3 cycles after its last byte.

    Parameters
    ----------
    size : int
        Bytes of a record; they come lowest first.
    capacity : int
        Bytes held, including those of the record that is offered.

    Members
    -------
    i : ``In(stream.Signature(8))``
        Bytes; each is taken within three cycles while the sender respects ``o_room``.
    o : ``Out(stream.Signature(8 * size))``
        Records.
    o_room : ``Out(16)``
        Free bytes; falls in the cycle after a byte, grows after a whole record.
    """

    def __init__(self, size: int, capacity: int):
        self._size, self._capacity = size, capacity
        super().__init__({
            "i": In(stream.Signature(8)),
            "o": Out(stream.Signature(8 * size)),
            "o_room": Out(16, init=capacity),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.queue = queue = StreamFifo(8, self._capacity)
        wiring.connect(m, wiring.flipped(self.i), queue.i)
        count = Signal(range(self._size + 1))
        m.d.comb += [self.o.valid.eq(count == self._size), queue.o.ready.eq(~self.o.valid)]
        with m.If(queue.o.valid & queue.o.ready):
            m.d.sync += self.o.payload.eq(Cat(self.o.payload, queue.o.payload)[8:])
            m.d.sync += count.eq(count + 1)
        is_in, is_out = self.i.valid & self.i.ready, self.o.valid & self.o.ready
        m.d.sync += self.o_room.eq(self.o_room - is_in + Mux(is_out, self._size, 0))
        with m.If(is_out):
            m.d.sync += count.eq(0)
        return m
