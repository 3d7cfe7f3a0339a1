"""A link with something behind it: what goes in on a channel comes out on it, and a register.

``LinkLoop`` is the hardware under test, ``Loopback`` the same behind the golden model.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.link.hello import Hello
from racetrap.rtl.common.axi import AxiLiteSignature, AxiResponse
from racetrap.rtl.common.registers import REGISTER_ADDRESS_BITS
from racetrap.rtl.common.stream import StreamFifo
from racetrap.rtl.link.link import Link
from racetrap.rtl.link.uart import Uart

#: An access to an address from here on is an error; below, all are the same register.
ADDRESSES = 0x100
#: Records that wait between an input and its output.
_DEPTH = 8


@dataclass(frozen=True)
class LoopParams:
    """One link of the testbench.

    Parameters
    ----------
    size : int
        Bytes of a record, in and out.
    channels : int
        Channels in and out.
    divisor : int
        Clock cycles of a bit of the line.
    credits : int
        Records that an input queue holds.
    """

    size: int
    channels: int = 1
    divisor: int = 8
    credits: int = 4

    @property
    def hello(self) -> Hello:
        """What the link is made for; bytes that must be escaped are in the configuration."""
        return Hello.of(
            0x7E7D0000 | self.size, input_bits=8 * self.size, inputs=self.channels,
            output_bits=8 * self.size, outputs=self.channels, credits=self.credits,
        )  # fmt: skip


class Loopback:
    """What lies behind a golden device; records move on only when ``move`` is called."""

    def __init__(self, params: LoopParams):
        self._params, self._sum = params, 0
        self._inputs: list[deque[int]] = [deque() for _ in range(params.channels)]
        self._outputs: list[deque[int]] = [deque() for _ in range(params.channels)]

    def move(self) -> None:
        """Let records flow until nothing moves any more."""
        for source, sink in zip(self._inputs, self._outputs, strict=True):
            while source and len(sink) < _DEPTH:
                sink.append(source.popleft())

    def push(self, channel: int, record: int) -> None:
        self._inputs[channel].append(record)

    def credits(self, channel: int) -> int:
        return self._params.credits - len(self._inputs[channel])

    def pull(self, channel: int) -> int | None:
        return self._outputs[channel].popleft() if self._outputs[channel] else None

    def read(self, address: int) -> int | None:
        return (self._sum ^ address) if address < ADDRESSES else None

    def write(self, address: int, data: int) -> bool:
        if address < ADDRESSES:
            self._sum = (self._sum + address + data) & 0xFFFF_FFFF
        return address < ADDRESSES


class _Register(wiring.Component):
    """Adds up what is written, and the addresses, so that a write executed twice is seen."""

    def __init__(self):
        super().__init__({"s_axil": In(AxiLiteSignature(address_bits=REGISTER_ADDRESS_BITS))})

    def elaborate(self, platform):
        m = Module()
        axi, total = self.s_axil, Signal(32)
        is_write = axi.awvalid & axi.wvalid & ~axi.bvalid
        is_read = axi.arvalid & ~axi.rvalid
        m.d.comb += [axi.awready.eq(is_write), axi.wready.eq(is_write), axi.arready.eq(is_read)]
        # Whoever asks is always ready.
        m.d.sync += [axi.bvalid.eq(is_write), axi.rvalid.eq(is_read)]
        m.d.sync += axi.bresp.eq(Mux(axi.awaddr < ADDRESSES, AxiResponse.OKAY, AxiResponse.SLVERR))
        m.d.sync += axi.rresp.eq(Mux(axi.araddr < ADDRESSES, AxiResponse.OKAY, AxiResponse.SLVERR))
        m.d.sync += axi.rdata.eq(total ^ axi.araddr)
        with m.If(is_write & (axi.awaddr < ADDRESSES)):
            m.d.sync += total.eq(total + axi.awaddr + axi.wdata)
        return m


def add_loop(m: Module, params: LoopParams, link: Any, is_open: Value) -> None:
    """Put a loop around a link, or its engine, that is a submodule already.

    Parameters
    ----------
    m : Module
        Module of the link.
    params : LoopParams
        The loop.
    link : Link or Engine
        The link; its line is the user's.
    is_open : Value
        Records move from inputs to outputs.
    """
    m.submodules.register = register = _Register()
    wiring.connect(m, link.m_axil, register.s_axil)
    for channel, (source, sink) in enumerate(zip(link.o_record, link.i_record, strict=True)):
        m.submodules[f"loop_{channel}"] = fifo = StreamFifo(source.payload.shape(), _DEPTH)
        m.d.comb += [fifo.i.payload.eq(source.payload), fifo.i.valid.eq(source.valid & is_open)]
        m.d.comb += source.ready.eq(fifo.i.ready & is_open)
        wiring.connect(m, fifo.o, sink)


class LinkLoop(wiring.Component):
    """A link in its loop.

    Parameters
    ----------
    params : LoopParams
        The loop.

    Members
    -------
    i_rx, o_tx : ``In(1)``, ``Out(1)``
        The line.
    i_open : ``In(1)``
        Records move from inputs to outputs.
    """

    def __init__(self, params: LoopParams):
        self._params = params
        super().__init__({"i_rx": In(1, init=1), "o_tx": Out(1), "i_open": In(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.link = link = Link(self._params.hello)
        m.submodules.uart = uart = Uart(self._params.divisor)
        add_loop(m, self._params, link, self.i_open)
        wiring.connect(m, uart.o, link.i)
        wiring.connect(m, link.o, uart.i)
        m.d.comb += [uart.i_rx.eq(self.i_rx), self.o_tx.eq(uart.o_tx)]
        return m
