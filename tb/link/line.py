"""The host's end of a line at the pins, by a third party's UART model, beside the golden device."""

from __future__ import annotations

import logging

from cocotb.triggers import ClockCycles, Timer
from cocotbext.uart import UartSink, UartSource

from racetrap.golden_model.link.device import LinkDevice
from racetrap.golden_model.link.frames import Decoder, Frame
from racetrap.tb.link.loopback import Loopback, LoopParams, golden_device

#: What ``Line.send`` takes in place of a byte for one that comes without a stop bit.
FRAMING_ERROR = -1

_BYTE_BITS = 10
#: Cycles that a request may take after its last byte, before the reply begins.
_EXECUTION_CYCLES = 1500


class Line:
    """Sends bytes to a link and to its golden model, and compares what both send back.

    Parameters
    ----------
    dut : handle
        The testbench's top.
    number : int
        Number of the link.
    params : LoopParams
        Its parameters.
    period_ps : int
        Clock period.
    baud_error : float
        By how much the host's baud rate is above the link's, 0.01 for one percent.
    """

    def __init__(
        self, dut, number: int, params: LoopParams, period_ps: int, baud_error: float = 0.0
    ):
        logging.getLogger("cocotb.testbench").setLevel(logging.WARNING)
        self.params = params
        self.compared = 0
        self._dut = dut
        self._rx = getattr(dut, f"i_rx__{number}")
        self._open = getattr(dut, f"i_open__{number}")
        self.link_up = getattr(dut, f"o_link_up__{number}")
        self._bit_ns = params.divisor * period_ps / 1000
        baud = 1e9 / self._bit_ns * (1 + baud_error)
        self.source = UartSource(self._rx, baud=baud)
        self.sink = UartSink(getattr(dut, f"o_tx__{number}"), baud=1e9 / self._bit_ns)
        self.golden: LinkDevice
        self.target: Loopback
        self.restart()

    def restart(self) -> None:
        """Begin with a new golden device, as after a reset."""
        self.golden, self.target = golden_device(self.params)

    async def bits(self, count: float) -> None:
        """Wait for ``count`` bit times."""
        await Timer(max(1, round(count * self._bit_ns * 1000)), "ps")

    async def exchange(self, data: bytes | list[int]) -> list[Frame]:
        """Send bytes and damaged bytes; gives the replies, the same as the golden device's."""
        expected = bytearray()
        good = bytearray()
        for byte in data:
            if byte == FRAMING_ERROR:
                await self._send(good)
                expected += self.golden.receive(bytes(good))
                good.clear()
                await self.pull_low(_BYTE_BITS)
                self.golden.framing_error()
            else:
                good.append(byte)
        await self._send(good)
        expected += self.golden.receive(bytes(good))
        received = await self.collect(len(expected))
        assert received == bytes(expected), (
            f"Link {self.params} must answer {bytes(expected).hex(' ')} to "
            f"{bytes(byte & 0xFF for byte in data).hex(' ')}, not {received.hex(' ')}"
        )
        assert int(self.link_up.value) == self.golden.is_up
        self.compared += 1
        return Decoder().feed(received)

    async def pull_low(self, bits: float) -> None:
        """Hold the line low and let it go again for two bits: a break, or a glitch."""
        self._rx.value = 0
        await self.bits(bits)
        self._rx.value = 1
        await self.bits(2)

    async def collect(self, count: int) -> bytes:
        """Take ``count`` bytes, if so many come, and whatever comes beyond them."""
        received = bytearray()
        for _ in range(count):
            if self.sink.empty():
                await self.sink.wait(self._patience_ns, "ns")
            if self.sink.empty():
                return bytes(received)
            received += self.sink.read_nowait(1)
        # A byte that nobody expects would begin in this time.
        await ClockCycles(self._dut.clk, _EXECUTION_CYCLES if count == 0 else 20)
        await self.bits(2)
        while not self.sink.idle() or not self.sink.empty():
            await self.bits(_BYTE_BITS)
            received += self.sink.read_nowait()
        return bytes(received)

    async def collect_all(self) -> list[Frame]:
        """Wait until everything is sent and nothing comes any more; gives the replies."""
        await self.source.wait()
        received = bytearray()
        while True:
            await self.sink.wait(self._patience_ns, "ns")
            if self.sink.empty():
                return Decoder().feed(bytes(received))
            received += self.sink.read_nowait()

    async def move_records(self) -> None:
        """Let records flow from inputs to outputs, in both."""
        self._open.value = 1
        await ClockCycles(self._dut.clk, (self.params.bits // 8 + 6) * (self.params.credits + 1))
        self._open.value = 0
        await ClockCycles(self._dut.clk, 2)
        self.target.move()

    async def _send(self, data: bytes | bytearray) -> None:
        if data:
            await self.source.write(data)
            await self.source.wait()

    @property
    def _patience_ns(self) -> int:
        return round(_EXECUTION_CYCLES * self._bit_ns / self.params.divisor + 30 * self._bit_ns)
