"""UART receiver and transmitter: eight data bits, no parity, one stop bit.

Ref: TIA/EIA-404-B (start-stop signal quality); the receiver samples in the middle of a bit.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import cdc, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.rtl.link.layouts import LineByte

#: Fewest clock cycles of a bit: at less, two cycles of uncertainty of the edge matter.
MIN_DIVISOR = 8

_DATA_BITS = 8


def _check_divisor(divisor: int) -> None:
    if not isinstance(divisor, int) or isinstance(divisor, bool):
        raise TypeError(f"UART divisor must be an integer, not {divisor!r}")
    if divisor < MIN_DIVISOR:
        raise ValueError(f"UART divisor must be at least {MIN_DIVISOR}, not {divisor}")


class UartReceiver(wiring.Component):
    """Bytes out of a serial line.

    The line passes two flip-flops.  A falling edge starts a byte, which is looked at in the
    middle of each bit; a start bit that is high in its middle was noise and is ignored.  The
    byte is offered in the cycle after the middle of its stop bit and is held until it is taken
    or the next one is complete, so that the user has ten bit times for it.

    A byte without a stop bit is a framing error: it is dropped, and nothing starts until the line
    is high again, so that a break is one error however long it lasts.  A byte that is complete
    while the one before it has not been taken is lost: an overrun.  The byte after either is
    marked as bad.

    Parameters
    ----------
    divisor : int
        Clock cycles of a bit; at least 8.

    Members
    -------
    i_rx : ``In(1)``
        The line, asynchronous.
    o : ``Out(stream.Signature(LineByte))``
        Bytes.
    o_framing, o_overrun : ``Out(1)``
        High for one cycle at each framing error and each lost byte.

    Raises
    ------
    TypeError, ValueError
        If the divisor is no integer from 8 on.
    """

    def __init__(self, divisor: int):
        _check_divisor(divisor)
        self._divisor = divisor
        super().__init__({
            "i_rx": In(1),
            "o": Out(stream.Signature(LineByte)),
            "o_framing": Out(1),
            "o_overrun": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        line = Signal(init=1)
        m.submodules.synchroniser = cdc.FFSynchronizer(self.i_rx, line, init=1)
        timer = Signal(range(self._divisor))
        count = Signal(range(_DATA_BITS))
        bits = Signal(_DATA_BITS)
        is_complete = Signal()
        with m.If(timer == 0):
            m.d.sync += timer.eq(self._divisor - 1)
        with m.Else():
            m.d.sync += timer.eq(timer - 1)
        with m.FSM():
            with m.State("IDLE"):
                # The edge is seen one cycle late: the middle is one cycle less than half a bit.
                m.d.sync += [timer.eq(self._divisor // 2 - 1), count.eq(0)]
                with m.If(~line):
                    m.next = "START"
            with m.State("START"), m.If(timer == 0):
                with m.If(line):
                    m.next = "IDLE"
                with m.Else():
                    m.next = "DATA"
            with m.State("DATA"), m.If(timer == 0):
                m.d.sync += [bits.eq(Cat(bits[1:], line)), count.eq(count + 1)]
                with m.If(count == _DATA_BITS - 1):
                    m.next = "STOP"
            with m.State("STOP"), m.If(timer == 0):
                m.d.comb += [
                    is_complete.eq(line),
                    self.o_framing.eq(~line),
                    self.o_overrun.eq(line & self.o.valid & ~self.o.ready),
                ]
                m.next = "BREAK"
            with m.State("BREAK"), m.If(line):
                m.next = "IDLE"
        self._elaborate_output(m, bits, is_complete)
        return m

    def _elaborate_output(self, m: Module, bits: Signal, is_complete: Signal) -> None:
        is_spoilt = Signal()
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.If(self.o_framing | self.o_overrun):
            m.d.sync += is_spoilt.eq(1)
        with m.Elif(is_complete):
            m.d.sync += [
                self.o.valid.eq(1),
                self.o.p.data.eq(bits),
                self.o.p.bad.eq(is_spoilt),
                is_spoilt.eq(0),
            ]


class UartTransmitter(wiring.Component):
    """Bytes into a serial line.

    The start bit begins in the cycle after a byte is taken, and the next byte is taken after
    ten bit times.  The line is high from reset on.

    Parameters
    ----------
    divisor : int
        Clock cycles of a bit; at least 8.

    Members
    -------
    i : ``In(stream.Signature(8))``
        Bytes.
    o_tx : ``Out(1)``
        The line, driven by a flip-flop.

    Raises
    ------
    TypeError, ValueError
        If the divisor is no integer from 8 on.
    """

    def __init__(self, divisor: int):
        _check_divisor(divisor)
        self._divisor = divisor
        super().__init__({"i": In(stream.Signature(8)), "o_tx": Out(1, init=1)})

    def elaborate(self, platform):
        m = Module()
        timer = Signal(range(self._divisor))
        # What is yet to be sent after the bit on the line; a one above it marks the end.
        bits = Signal(_DATA_BITS + 2)
        m.d.comb += self.i.ready.eq((bits == 0) & (timer == 0))
        with m.If(timer != 0):
            m.d.sync += timer.eq(timer - 1)
        with m.Elif(bits != 0):
            m.d.sync += [Cat(self.o_tx, bits).eq(bits), timer.eq(self._divisor - 1)]
        with m.Elif(self.i.valid):
            m.d.sync += [
                self.o_tx.eq(0),
                bits.eq(Cat(self.i.payload, 1)),
                timer.eq(self._divisor - 1),
            ]
        return m
