"""The UART pins of a simulated device as a serial port, so that the host's own code plays there.

The UART at the other end of the pins is cocotbext-uart's, not ours.
"""

from __future__ import annotations

from typing import Any

from cocotb.clock import Clock
from cocotb.task import resume
from cocotb.triggers import ClockCycles
from cocotbext.uart import UartSink, UartSource

from racetrap.sim.mismatch import Mismatch

__all__ = ["PinPort", "check_lights", "start"]

_CLOCK_NS = 10
_RESET_CYCLES = 4
_WAIT_NS = 1_000_000


async def start(dut: Any) -> None:
    """Start the clock of a device, and reset it."""
    dut.i_rx.value = 1
    dut.rst.value = 1
    Clock(dut.clk, _CLOCK_NS, "ns").start()
    await ClockCycles(dut.clk, _RESET_CYCLES)
    dut.rst.value = 0
    await ClockCycles(dut.clk, _RESET_CYCLES)


def check_lights(dut: Any, *, is_race_seen: bool) -> None:
    """Raise ``Mismatch`` unless the lights say link up, no error, and whether a race was seen."""
    lights = int(dut.o_leds.value)
    if lights & 0b1101 != 0b0001 | 0b0100 * is_race_seen:
        raise Mismatch(
            f"Lights must say link up, no error and race seen {is_race_seen}, not {lights:#06b}"
        )


class PinPort:
    """Serial port of a host that runs in a thread beside the simulation (``cocotb.bridge``).

    Time goes on only while the host reads or writes.

    Parameters
    ----------
    dut : handle
        The device.
    divisor : int
        Clock cycles of a bit.

    Attributes
    ----------
    baud : int
        Bits a second.
    """

    def __init__(self, dut: Any, divisor: int):
        self.baud = 1_000_000_000 // (_CLOCK_NS * divisor)
        self._source = UartSource(dut.i_rx, baud=self.baud)
        self._sink = UartSink(dut.o_tx, baud=self.baud)

    def __str__(self) -> str:
        return "the UART pins"

    @property
    def in_waiting(self) -> int:
        """Bytes that have come and were not read."""
        return self._sink.count()

    def read(self, size: int) -> bytes:
        """Up to so many bytes, after a wait for the first."""
        return resume(self._read)(size)

    def write(self, data: bytes) -> None:
        """Send bytes."""
        resume(self._source.write)(data)

    def close(self) -> None:
        """Nothing to do."""

    async def _read(self, size: int) -> bytes:
        await self._sink.wait(_WAIT_NS)
        return bytes(self._sink.read_nowait(min(size, self._sink.count())))
