"""Round-robin arbiter of streams."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, ShapeLike, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.rtl.common.bits import one_hot_select
from racetrap.rtl.common.stream import StreamRegister

__all__ = ["StreamArbiter"]


class StreamArbiter(wiring.Component):
    """Merges streams into one, round robin.

    An input that offers a payload waits for at most ``count - 1`` payloads of other inputs.
    Payloads of one input stay in order.  Latency is one cycle, throughput one payload a
    cycle.  The output is registered, so that its payload stays put while it waits.
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
        self._count = count
        super().__init__({
            "i": In(stream.Signature(shape)).array(count),
            "o": Out(stream.Signature(shape)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.register = register = StreamRegister(self._shape)
        wiring.connect(m, register.o, wiring.flipped(self.o))

        # An input's turn comes if nobody before it asks, counting from the one after the last
        # that was served: first those behind that one (`after`), then all from number 0.
        request = Cat(port.valid for port in self.i)
        after = Signal(self._count)
        turn = Signal(self._count)
        nobody_after = ~(request & after).any()
        for k in range(self._count):
            nobody_before = ~request[:k].any()
            nobody_between = ~(request & after)[:k].any()
            m.d.comb += [
                turn[k].eq(Mux(after[k], nobody_between, nobody_after & nobody_before)),
                self.i[k].ready.eq(turn[k] & register.i.ready),
            ]

        grant = Signal(self._count)
        m.d.comb += [
            grant.eq(request & turn),
            register.i.valid.eq(request.any()),
            Value.cast(register.i.payload).eq(
                one_hot_select(grant, (Value.cast(port.payload) for port in self.i))
            ),
        ]
        with m.If(register.i.valid & register.i.ready):
            m.d.sync += after.eq(Cat(grant[:k].any() for k in range(self._count)))
        return m
