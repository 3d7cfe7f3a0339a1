"""Queue of an input channel: bytes in, records out, and the credit that is left."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.rtl.common.stream import StreamFifo


class InputQueue(wiring.Component):
    """Holds records as bytes, and puts them together one after the other.

    Bytes in memory, with one record in flip-flops, are much smaller than wide records in
    memory, and a line that gives a byte in 80 cycles or more needs no more: a record of n bytes
    is offered n + 3 cycles or less after its last byte has come.

    Parameters
    ----------
    bits : int
        Bits of a record; its bytes come lowest first, and bits above these are ignored.
    depth : int
        Records held, the one that is offered included.

    Members
    -------
    i : ``In(stream.Signature(8))``
        Bytes of whole records; a byte is taken within three cycles as long as the user keeps to
        the credit, in a queue of more than two bytes at once.
    o : ``Out(stream.Signature(bits))``
        Records.
    o_credits : ``Out(8)``
        Records that can come; falls in the cycle after a record's last byte.

    Raises
    ------
    ValueError
        If the depth is not from 1 to 255.
    """

    def __init__(self, bits: int, depth: int):
        if not 1 <= depth <= 255:
            raise ValueError(f"Input queue depth must be from 1 to 255, not {depth}")
        self._depth = depth
        self._bytes = -(-bits // 8)
        super().__init__({
            "i": In(stream.Signature(8)),
            "o": Out(stream.Signature(bits)),
            "o_credits": Out(8, init=depth),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.queue = queue = StreamFifo(8, self._depth * self._bytes)
        wiring.connect(m, wiring.flipped(self.i), queue.i)
        taken = Signal(range(self._bytes))
        is_record_in = Signal()
        is_record_out = Signal()
        m.d.comb += is_record_out.eq(self.o.valid & self.o.ready)
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += taken.eq(taken + 1)
            with m.If(taken == self._bytes - 1):
                m.d.sync += taken.eq(0)
                m.d.comb += is_record_in.eq(1)
        m.d.sync += self.o_credits.eq(self.o_credits - is_record_in + is_record_out)
        self._elaborate_record(m, queue)
        return m

    def _elaborate_record(self, m: Module, queue: StreamFifo) -> None:
        record = Signal(8 * self._bytes)
        count = Signal(range(self._bytes))
        m.d.comb += [queue.o.ready.eq(~self.o.valid), self.o.payload.eq(record)]
        with m.If(queue.o.valid & queue.o.ready):
            m.d.sync += [record.eq(Cat(record, queue.o.payload)[8:]), count.eq(count + 1)]
            with m.If(count == self._bytes - 1):
                m.d.sync += [count.eq(0), self.o.valid.eq(1)]
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += self.o.valid.eq(0)
