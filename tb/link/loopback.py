"""A link with something behind it: what goes in on a channel comes out on it; a few registers.

``LinkLoops`` is the hardware under test, ``Loopback`` the same behind the golden model.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.link.device import LinkDevice
from racetrap.rtl.common.axi import AxiLiteSignature, AxiResponse
from racetrap.rtl.common.stream import StreamFifo
from racetrap.rtl.link.link import Link

ADDRESS_BITS = 8
#: Registers from address 0 on; behind them every access is an error.
REGISTERS = 16
_REGISTER_BYTES = 4


@dataclass(frozen=True)
class LoopParams:
    """One link of the testbench.

    Parameters
    ----------
    bits : int
        Bits of a record, in and out.
    channels : int
        Channels in and out.
    divisor : int
        Clock cycles of a bit of the line.
    credits : int
        Records that an input queue holds.
    depth : int
        Records that wait between an input and its output.
    """

    bits: int
    channels: int = 1
    divisor: int = 8
    credits: int = 4
    depth: int = 8

    @property
    def configuration(self) -> int:
        """A number that tells links apart, with bytes that must be escaped in it."""
        return 0x7E7D0000 | self.bits

    @property
    def link_settings(self) -> dict[str, int]:
        """What link and golden model have in common."""
        return {
            "system": 1, "configuration": self.configuration, "input_bits": self.bits,
            "inputs": self.channels, "output_bits": self.bits, "outputs": self.channels,
            "address_bits": ADDRESS_BITS,
        }  # fmt: skip


class Loopback:
    """What lies behind a golden device; records move on only when ``move`` is called."""

    def __init__(self, params: LoopParams):
        self._params = params
        self._inputs: list[deque[int]] = [deque() for _ in range(params.channels)]
        self._outputs: list[deque[int]] = [deque() for _ in range(params.channels)]
        self._registers = [0] * REGISTERS

    def move(self) -> None:
        """Let records flow until nothing moves any more."""
        for source, sink in zip(self._inputs, self._outputs, strict=True):
            while source and len(sink) < self._params.depth:
                sink.append(source.popleft())

    def push(self, channel: int, record: int) -> None:
        self._inputs[channel].append(record)

    def credits(self, channel: int) -> int:
        return self._params.credits - len(self._inputs[channel])

    def pull(self, channel: int) -> int | None:
        return self._outputs[channel].popleft() if self._outputs[channel] else None

    def waiting(self, channel: int) -> bool:
        return bool(self._outputs[channel])

    def read(self, address: int) -> int | None:
        number = address // _REGISTER_BYTES
        return self._registers[number] if number < REGISTERS else None

    def write(self, address: int, data: int) -> bool:
        number = address // _REGISTER_BYTES
        if number < REGISTERS:
            self._registers[number] = data
        return number < REGISTERS


def golden_device(params: LoopParams) -> tuple[LinkDevice, Loopback]:
    """The golden model of one link of the testbench, and what lies behind it."""
    target = Loopback(params)
    return LinkDevice(target, **params.link_settings), target


class _Registers(wiring.Component):
    """Registers in memory; they start at 0 and keep their values over a reset."""

    def __init__(self):
        super().__init__({"s_axil": In(AxiLiteSignature(address_bits=ADDRESS_BITS))})

    def elaborate(self, platform):
        m = Module()
        axi = self.s_axil
        m.submodules.memory = values = memory.Memory(shape=32, depth=REGISTERS, init=[])
        write, read = values.write_port(), values.read_port(domain="comb")
        is_write = Signal()
        m.d.comb += [
            is_write.eq(axi.awvalid & axi.wvalid & ~axi.bvalid),
            axi.awready.eq(is_write),
            axi.wready.eq(is_write),
            axi.arready.eq(axi.arvalid & ~axi.rvalid),
            write.addr.eq(axi.awaddr[2:]),
            write.data.eq(axi.wdata),
            write.en.eq(is_write & self._has(axi.awaddr)),
            read.addr.eq(axi.araddr[2:]),
        ]
        for ready, valid, response, address, taken in (
            (axi.bready, axi.bvalid, axi.bresp, axi.awaddr, is_write),
            (axi.rready, axi.rvalid, axi.rresp, axi.araddr, axi.arready),
        ):
            with m.If(taken):
                ok, error = AxiResponse.OKAY, AxiResponse.SLVERR
                m.d.sync += [valid.eq(1), response.eq(Mux(self._has(address), ok, error))]
            with m.Elif(ready):
                m.d.sync += valid.eq(0)
        with m.If(axi.arready):
            m.d.sync += axi.rdata.eq(read.data)
        return m

    def _has(self, address):
        return address < REGISTERS * _REGISTER_BYTES


class LinkLoops(wiring.Component):
    """Links side by side, so that one simulator serves every size.

    Parameters
    ----------
    links : sequence of LoopParams
        The links.

    Members
    -------
    i_rx, o_tx : ``In(1).array(n)``, ``Out(1).array(n)``
        The lines.
    i_open : ``In(1).array(n)``
        Records move from inputs to outputs.
    o_link_up : ``Out(1).array(n)``
        Of each link.
    """

    def __init__(self, links):
        self._links = list(links)
        super().__init__({
            "i_rx": In(1, init=1).array(len(links)),
            "o_tx": Out(1).array(len(links)),
            "i_open": In(1).array(len(links)),
            "o_link_up": Out(1).array(len(links)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        for number, params in enumerate(self._links):
            link = Link(**params.link_settings, divisor=params.divisor, credits=params.credits)
            m.submodules[f"link_{number}"] = link
            m.submodules[f"registers_{number}"] = registers = _Registers()
            wiring.connect(m, link.m_axil, registers.s_axil)
            m.d.comb += [
                link.i_rx.eq(self.i_rx[number]),
                self.o_tx[number].eq(link.o_tx),
                self.o_link_up[number].eq(link.o_link_up),
            ]
            for channel in range(params.channels):
                fifo = StreamFifo(params.bits, params.depth)
                m.submodules[f"loop_{number}_{channel}"] = fifo
                source, is_open = link.o_record[channel], self.i_open[number]
                m.d.comb += [
                    fifo.i.payload.eq(source.payload),
                    fifo.i.valid.eq(source.valid & is_open),
                    source.ready.eq(fifo.i.ready & is_open),
                ]
                wiring.connect(m, fifo.o, link.i_record[channel])
        return m
