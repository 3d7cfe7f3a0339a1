"""Round-robin arbiters of streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Shape, ShapeLike, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.rtl.common.bits import one_hot_select
from racetrap.rtl.common.stream import StreamRegister


class StreamArbiter(wiring.Component):
    """Merges streams into one, round robin.

    An input that offers a payload waits for at most ``count - 1`` payloads of other inputs.
    Payloads of one input stay in order.  Latency is one cycle, throughput one payload a
    cycle.  The output is registered, so its payload is stable while it waits.
    ``i[k].ready`` depends on ``o.ready`` and on the other inputs' ``valid``, not on its own.

    Parameters
    ----------
    shape : ShapeLike
        Shape of the payload.
    count : int
        Number of inputs; at least 1.

    Members
    -------
    i : ``In(stream.Signature(shape)).array(count)``
        Streams to be merged.
    o : ``Out(stream.Signature(shape))``
        Merged stream.

    Raises
    ------
    ValueError
        If ``count`` is less than 1.
    """

    def __init__(self, shape: ShapeLike, count: int):
        if count < 1:
            raise ValueError(f"Stream arbiter input count must be at least 1, not {count}")
        self._shape = shape
        super().__init__({
            "i": In(stream.Signature(shape)).array(count),
            "o": Out(stream.Signature(shape)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.register = register = StreamRegister(self._shape)
        wiring.connect(m, register.o, wiring.flipped(self.o))
        payloads = [Value.cast(port.payload) for port in self.i]
        ready = _round_robin(m, Cat(port.valid for port in self.i), payloads, register.i)
        m.d.comb += Cat(port.ready for port in self.i).eq(ready)
        return m


class VectorArbiter(wiring.Component):
    """As ``StreamArbiter``, with the payloads of all inputs side by side.

    All arbiters of a crossbar can thus share one input.

    Parameters
    ----------
    shape : ShapeLike
        Shape of the payload.
    count : int
        Number of inputs; at least 1.

    Members
    -------
    i_payload : ``In(count * width of shape)``
        Payloads, that of input 0 lowest.
    i_valid : ``In(count)``, o_ready : ``Out(count)``
        Bit ``k`` is that of input ``k``.
    o : ``Out(stream.Signature(shape))``
        Merged stream.
    """

    def __init__(self, shape: ShapeLike, count: int):
        self._shape = shape
        super().__init__({
            "i_payload": In(count * Shape.cast(shape).width),
            "i_valid": In(count),
            "o_ready": Out(count),
            "o": Out(stream.Signature(shape)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.register = register = StreamRegister(self._shape)
        wiring.connect(m, register.o, wiring.flipped(self.o))
        width = Shape.cast(self._shape).width
        payloads = [self.i_payload.word_select(k, width) for k in range(len(self.i_valid))]
        m.d.comb += self.o_ready.eq(_round_robin(m, self.i_valid, payloads, register.i))
        return m


def _round_robin(m: Module, valid: Value, payloads: Sequence[Value], sink: Any) -> Value:
    """Turns of inputs at a stream, which takes the payload of the one that is served.

    Returns
    -------
    Value
        For each input, whether it would be served if it were valid.
    """
    count = len(valid)
    if count == 1:
        m.d.comb += [sink.valid.eq(valid), Value.cast(sink.payload).eq(payloads[0])]
        return sink.ready
    # An input is served if none before it is valid, counting from the one after the last served:
    # first those behind that one (`after`), then all from number 0.
    request, request_after = Signal(count, name="request"), Signal(count, name="request_after")
    after, nobody_after = Signal(count, name="after"), Signal(name="nobody_after")
    turn, ready, grant = (Signal(count, name=name) for name in ("turn", "ready", "grant"))
    m.d.comb += [
        request.eq(valid),
        request_after.eq(request & after),
        nobody_after.eq(~request_after.any()),
        grant.eq(request & turn),
        sink.valid.eq(request.any()),
        Value.cast(sink.payload).eq(one_hot_select(grant, payloads)),
    ]
    for k in range(count):
        nobody_before = ~request[:k].any()
        nobody_between = ~request_after[:k].any()
        m.d.comb += [
            turn[k].eq(Mux(after[k], nobody_between, nobody_after & nobody_before)),
            ready[k].eq(turn[k] & sink.ready),
        ]
    with m.If(sink.valid & sink.ready):
        m.d.sync += after.eq(Cat(grant[:k].any() for k in range(count)))
    return ready
