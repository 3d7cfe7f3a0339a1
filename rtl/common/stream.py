"""Stream blocks of general use: a register slice, a FIFO, and a connection."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Shape, ShapeLike, Signal, ValueLike
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.wiring import In, Out


def assign_stream(m: Module, sink: Any, source: Any, payload: ValueLike | None = None) -> None:
    """Connect two streams whose payloads have the same bits, but not the same shape.

    Parameters
    ----------
    m : Module
        Module of the connection.
    sink, source : stream
        Streams as the consumer and the producer see them.
    payload : ValueLike or None
        Payload for ``sink``; that of ``source`` by default.
    """
    m.d.comb += [
        sink.payload.eq(source.payload if payload is None else payload),
        sink.valid.eq(source.valid),
        source.ready.eq(sink.ready),
    ]


class StreamRegister(wiring.Component):
    """Register slice of a stream: cuts the path of ``payload`` and ``valid``.

    Latency is one cycle, throughput one payload a cycle.  ``i.ready`` follows ``o.ready`` in
    the same cycle and does not depend on ``i.valid``.  A reset clears ``valid`` alone.

    Parameters
    ----------
    shape : ShapeLike
        Shape of the payload.

    Members
    -------
    i : ``In(stream.Signature(shape))``
        Stream to be registered.
    o : ``Out(stream.Signature(shape))``
        The same stream, driven by flip-flops.
    """

    def __init__(self, shape: ShapeLike):
        super().__init__({
            "i": In(stream.Signature(shape)),
            "o": Out(stream.Signature(shape)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        payload = Signal(self.i.payload.shape(), reset_less=True)
        m.d.comb += [
            self.i.ready.eq(~self.o.valid | self.o.ready),
            self.o.payload.eq(payload),
        ]
        with m.If(self.i.ready):
            m.d.sync += self.o.valid.eq(self.i.valid)
            # Only a valid payload is stored: the register does not toggle on idle cycles.
            with m.If(self.i.valid):
                m.d.sync += payload.eq(self.i.payload)
        return m


class StreamFifo(wiring.Component):
    """A synchronous FIFO between two streams, in memory with a synchronous read port.

    One or two payloads are held in registers: a memory has two words or more.
    Latency is two cycles (one at depth 1), throughput one payload a cycle from depth 3 on
    (every second cycle below).  ``i.ready`` depends on flip-flops only.

    Parameters
    ----------
    shape : ShapeLike
        Shape of the payload.
    depth : int
        Payloads held; at least 1.

    Members
    -------
    i : ``In(stream.Signature(shape))``
        Stream into the FIFO.
    o : ``Out(stream.Signature(shape))``
        Stream out of the FIFO.
    o_empty : ``Out(1)``
        Nothing is in the FIFO, not even a payload that ``o`` does not offer yet.

    Raises
    ------
    ValueError
        If ``depth`` is less than 1.
    """

    def __init__(self, shape: ShapeLike, depth: int):
        if depth < 1:
            raise ValueError(f"Stream FIFO depth must be at least 1, not {depth}")
        self._width = Shape.cast(shape).width
        self._depth = depth
        super().__init__({
            "i": In(stream.Signature(shape)),
            "o": Out(stream.Signature(shape)),
            "o_empty": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        if self._depth == 2:
            # The queue's memory would have one word: no address, and Verilog has no such signals.
            return self._two_registers(m)
        m.submodules.queue = queue = fifo.SyncFIFOBuffered(width=self._width, depth=self._depth)
        m.d.comb += [
            queue.w_data.eq(self.i.payload),
            queue.w_en.eq(self.i.valid),
            self.i.ready.eq(queue.w_rdy),
            self.o.payload.eq(queue.r_data),
            self.o.valid.eq(queue.r_rdy),
            queue.r_en.eq(self.o.ready),
            self.o_empty.eq(queue.level == 0),
        ]
        return m

    def _two_registers(self, m: Module) -> Module:
        m.submodules.first = first = fifo.SyncFIFOBuffered(width=self._width, depth=1)
        m.submodules.second = second = fifo.SyncFIFOBuffered(width=self._width, depth=1)
        m.d.comb += [
            first.w_data.eq(self.i.payload),
            first.w_en.eq(self.i.valid),
            self.i.ready.eq(first.w_rdy),
            second.w_data.eq(first.r_data),
            second.w_en.eq(first.r_rdy),
            first.r_en.eq(second.w_rdy),
            self.o.payload.eq(second.r_data),
            self.o.valid.eq(second.r_rdy),
            second.r_en.eq(self.o.ready),
            self.o_empty.eq(~first.r_rdy & ~second.r_rdy),
        ]
        return m
