"""UART: eight data bits, no parity, one stop bit.

Ref: TIA/EIA-404-B (start-stop signal quality); the receiver samples in the middle of a bit.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import cdc, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.checks import check_integer

#: Minimum clock cycles of a bit: below, the edge's uncertainty of two cycles matters.
_MIN_DIVISOR = 8

_BYTE_BITS = 10


class Uart(wiring.Component):
    """Bytes out of a serial line, and bytes into one.

    The input passes two flip-flops.  A low level starts a byte, which is sampled in the middle of
    each bit; a start bit that is high in its middle is ignored as noise, a byte without a stop bit
    is dropped.  A byte is offered in the cycle after the middle of its stop bit.

    On the output, a start bit begins in the cycle after a byte is taken, and the next byte is taken
    after ten bit times.  The output is high from reset on.

    Parameters
    ----------
    divisor : int
        Clock cycles of a bit; at least 8.

    Members
    -------
    i_rx : ``In(1)``, o_tx : ``Out(1)``
        The lines; the input may be asynchronous.
    o : ``Out(stream.Signature(8, always_ready=True))``
        Bytes received.
    i : ``In(stream.Signature(8))``
        Bytes to be sent.

    Raises
    ------
    TypeError, ValueError
        If the divisor is not an integer of at least 8.
    """

    def __init__(self, divisor: int):
        check_integer("UART divisor", divisor, _MIN_DIVISOR, 1 << 16)
        self._divisor = divisor
        super().__init__({
            "i_rx": In(1, init=1),
            "o_tx": Out(1, init=1),
            "o": Out(stream.Signature(8, always_ready=True)),
            "i": In(stream.Signature(8)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        self._elaborate_receiver(m)
        self._elaborate_transmitter(m)
        return m

    def _elaborate_receiver(self, m: Module) -> None:
        line, timer = Signal(init=1), Signal(range(self._divisor))
        left = Signal(range(_BYTE_BITS + 1))
        m.submodules.synchroniser = cdc.FFSynchronizer(self.i_rx, line, init=1)
        m.d.sync += [timer.eq(timer - 1), self.o.valid.eq(0)]
        with m.If(left == 0):
            # The edge is seen one cycle late: the middle is one cycle less than half a bit.
            m.d.sync += timer.eq(self._divisor // 2 - 1)
            with m.If(~line):
                m.d.sync += left.eq(_BYTE_BITS)
        with m.Elif(timer == 0):
            m.d.sync += [timer.eq(self._divisor - 1), left.eq(left - 1)]
            with m.If(left == 1):
                m.d.sync += self.o.valid.eq(line)
            with m.Else():
                m.d.sync += self.o.payload.eq(Cat(self.o.payload, line)[1:])
            with m.If((left == _BYTE_BITS) & line):
                m.d.sync += left.eq(0)

    def _elaborate_transmitter(self, m: Module) -> None:
        # Bits still to be sent after the one on the line; a one above them marks the end.
        bits, timer = Signal(_BYTE_BITS), Signal(range(self._divisor))
        m.d.comb += self.i.ready.eq((bits == 0) & (timer == 0))
        with m.If(timer != 0):
            m.d.sync += timer.eq(timer - 1)
        with m.Elif((bits != 0) | self.i.valid):
            m.d.sync += timer.eq(self._divisor - 1)
            m.d.sync += Cat(self.o_tx, bits).eq(bits)
            with m.If(self.i.ready):
                m.d.sync += [self.o_tx.eq(0), bits.eq(Cat(self.i.payload, 1))]
