"""Tests of a link at its pins; the plan gives link, seed, number of requests and clock.

The other end of the pins is a third party's UART, and beside the link is its golden device.
"""

from __future__ import annotations

import logging
import random

import cocotb
from cocotb.clock import Clock
from cocotb.task import bridge, resume
from cocotb.triggers import Timer
from cocotbext.uart import UartSink, UartSource

from racetrap.golden_model.link.frames import CHANNELS, FLAG, Frame, Kind, encode
from racetrap.sim.cosim.verilator.plan import note, read_plan
from tests.support.link.faults import BadLine
from tests.support.link.loopback import LoopParams
from tests.support.link.traffic import Beside, Traffic

#: Cycles that a request may take after its last byte, before the reply begins.
_EXECUTION_CYCLES = 1500
_WRITE = Kind.ACCESS * CHANNELS


class _Pins:
    """A link's pins; ``baud_error`` 0.01: the host's baud rate is one percent above the link's."""

    def __init__(self, dut, baud_error: float = 0.0):
        logging.getLogger("cocotb.testbench").setLevel(logging.WARNING)
        plan = read_plan()
        self.params, self.dut = LoopParams(**plan["link"]), dut
        dut.i_rx.value, dut.i_open.value = 1, 0
        Clock(dut.clk, plan["period_ps"], "ps").start()
        self._bit_ps = self.params.divisor * plan["period_ps"]
        self._source = UartSource(dut.i_rx, baud=1e12 / self._bit_ps * (1 + baud_error))
        self._sink = UartSink(dut.o_tx, baud=1e12 / self._bit_ps)

    async def reset(self) -> None:
        """Reset the link, and begin with a new golden device."""
        await self.pulse(self.dut.rst, 1, 1)
        self._sink.clear()
        self.beside = Beside(self.params, resume(self.exchange))

    async def bits(self, count: float) -> None:
        """Wait for ``count`` bit times."""
        await Timer(max(1, round(count * self._bit_ps)), "ps")

    async def pulse(self, signal, level: int, bits: float) -> None:
        """Change a signal for some bit times; then wait until what began in them has ended."""
        signal.value = level
        await self.bits(bits)
        signal.value = 1 - level
        await self.bits(12)

    async def exchange(self, data: bytes, due: int | None = None) -> bytes:
        """Send, and take what comes until nothing more does, or is due, and what comes behind."""
        await self._source.write(data)
        await self._source.wait()
        received = b""
        while due is None or len(received) < due:
            await self._sink.wait(_EXECUTION_CYCLES * self._bit_ps // self.params.divisor, "ps")
            if self._sink.empty():
                break
            received += bytes(self._sink.read_nowait())
        await self.bits(15)
        return received + bytes(self._sink.read_nowait())

    async def move(self) -> None:
        """Let records flow from inputs to outputs, in both."""
        await self.pulse(self.dut.i_open, 1, (self.params.size + 6) * (self.params.credits + 1) / 8)
        self.beside.target.move()

    async def play(self, requests: int, fault_rate: float = 0.0) -> None:
        """Random requests from a new host, every reply compared, and the account of all."""
        rng = random.Random(random.random())

        def host() -> None:
            line = BadLine(self.beside.exchange, rng, fault_rate)
            traffic = Traffic(line, self.params, rng, resume(self.move))
            traffic.play(requests)
            traffic.finish()
            note({
                "returned": traffic.returned, "requests": traffic.host.requests,
                "resends": traffic.host.resends, "faults": line.faults,
            })  # fmt: skip

        await bridge(host)()


@cocotb.test()
@cocotb.parametrize(baud_error=[-0.02, 0.0, 0.02], fault_rate=[0.0, 0.3])
async def session(dut, baud_error: float, fault_rate: float):
    pins = _Pins(dut, baud_error)
    await pins.reset()
    await pins.play(read_plan()["requests"], fault_rate)


@cocotb.test()
async def break_and_noise(dut):
    """Nothing is done for a break of any length, or for a spike."""
    pins = _Pins(dut)
    await pins.reset()
    for bits in (0.1, 0.3, 10, 10.5, 35, 1000):
        await pins.play(1)
        await pins.pulse(dut.i_rx, 0, bits)
        assert await pins.exchange(bytes([FLAG])) == b""


@cocotb.test()
async def reset_in_mid_frame(dut):
    """A reset loses what the link held; the host gets no reply until it sends HELLO."""
    pins = _Pins(dut)
    await pins.reset()
    for _ in range(read_plan()["requests"] // 4):
        await pins.play(3)
        await pins.exchange(encode(Frame(1, _WRITE, bytes(6)))[: random.randrange(1, 13)])
        await pins.bits(random.random() * 12)
        await pins.reset()
        for sequence in (0, 1, 65_535):
            assert await pins.exchange(encode(Frame(sequence, _WRITE, bytes(6)))) == b""
