"""Payloads on their way through a part, one of them, any, watched until it comes out."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value, ValueLike


class Passage:
    """What a part holds that gives the payloads put in once, unchanged and in order.

    Parameters
    ----------
    m : Module
        Module of the harness.
    put, payload : ValueLike
        Whether a payload goes in in this cycle, and which.
    got : ValueLike
        Whether the oldest one comes out.
    watch : ValueLike
        Free input: watch the payload that goes in.
    most : int
        Payloads that the part may hold.

    Attributes
    ----------
    held, watching, ahead, watched : Signal
        Payloads in the part; whether one is watched, the number of those before it, and it.
    is_next : Value
        The watched payload is the next to come out.
    """

    def __init__(
        self, m: Module, *, put: ValueLike, payload: ValueLike, got: ValueLike, watch: ValueLike,
        most: int,
    ):  # fmt: skip
        put, payload, got = Value.cast(put), Value.cast(payload), Value.cast(got)
        self._most = most
        self.held, self.ahead = Signal(range(most + 2)), Signal(range(most + 2))
        self.watching, self.watched = Signal(), Signal(len(payload))
        self.is_next = self.watching & (self.ahead == 0)
        m.d.sync += self.held.eq(self.held + put - got)
        with m.If(put & watch & ~self.watching):
            m.d.sync += [
                self.watching.eq(1), self.watched.eq(payload), self.ahead.eq(self.held - got),
            ]  # fmt: skip
        with m.Elif(got & self.is_next):
            m.d.sync += self.watching.eq(0)
        with m.Elif(got):
            m.d.sync += self.ahead.eq(self.ahead - self.watching)

    def rules(self, valid: ValueLike, output: ValueLike) -> list[Value]:
        """Nothing is lost or doubled, nothing comes out that did not go in."""
        valid, output = Value.cast(valid), Value.cast(output)
        return [
            self.held <= self._most,
            ~valid | (self.held != 0),
            ~(valid & self.is_next) | (output == self.watched),
        ]
