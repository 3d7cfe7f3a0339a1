"""Round-robin arbiter of streams whose payloads form messages."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, ShapeLike, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.rtl.common.bits import one_hot_select
from racetrap.rtl.common.stream import StreamRegister


class MessageArbiter(wiring.Component):
    """Merges streams of messages into one, round robin, a whole message at a time.

    A message ends with the payload whose ``last`` is set.  An input that offers a message waits for
    at most ``count - 1`` messages of other inputs.  Latency is two cycles for the first payload of
    a message and one for the others; throughput is one payload a cycle within a message and one
    idle cycle between messages.  The output is registered, so its payload is stable while it waits.
    ``i[k].ready`` depends on ``o.ready`` and on no ``valid``.

    Parameters
    ----------
    shape : data.StructLayout
        Shape of the payload; it has a one-bit field ``last``.
    count : int
        Number of inputs; at least 1.

    Members
    -------
    i : ``In(stream.Signature(shape)).array(count)``
        Streams to be merged.
    o : ``Out(stream.Signature({flit: shape, source: range(count)}))``
        Merged stream, and the input that each payload came from.

    Raises
    ------
    ValueError
        If ``count`` is less than 1.
    """

    def __init__(self, shape: ShapeLike, count: int):
        if count < 1:
            raise ValueError(f"Message arbiter input count must be at least 1, not {count}")
        self._count = count
        self._merged = data.StructLayout({"flit": shape, "source": range(count)})
        super().__init__({
            "i": In(stream.Signature(shape)).array(count),
            "o": Out(stream.Signature(self._merged)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.register = register = StreamRegister(self._merged)
        wiring.connect(m, register.o, wiring.flipped(self.o))

        # One-hot: the input whose message is being sent; 0 between messages.
        grant = Signal(self._count)
        offered = Cat(port.valid for port in self.i)
        for port, chosen in zip(self.i, grant, strict=True):
            m.d.comb += port.ready.eq(chosen & register.i.ready)
        m.d.comb += [
            register.i.valid.eq((grant & offered).any()),
            Value.cast(register.i.p.flit).eq(
                one_hot_select(grant, (Value.cast(port.payload) for port in self.i))
            ),
            register.i.p.source.eq(
                one_hot_select(grant, (Const(k, range(self._count)) for k in range(self._count)))
            ),
        ]
        # Round robin: the first valid input after the one served last, otherwise the first of all.
        after = Signal(self._count)
        candidates = Mux((offered & after).any(), offered & after, offered)
        with m.If(~grant.any()):
            m.d.sync += grant.eq(candidates & -candidates)
        with m.Elif(register.i.valid & register.i.ready & register.i.p.flit.last):
            m.d.sync += [
                grant.eq(0),
                after.eq(Cat(grant[:k].any() for k in range(self._count))),
            ]
        return m
