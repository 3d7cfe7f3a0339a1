"""A host at the UART pins of a simulated device: its own code, in a thread beside the simulation.

The UART at the other end of the pins is cocotbext-uart's, not ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from cocotb.clock import Clock
from cocotb.task import bridge, resume
from cocotb.triggers import ClockCycles
from cocotbext.uart import UartSink, UartSource

from racetrap.fpga.boards.status_lights import LIGHTS
from racetrap.fpga.host import session
from racetrap.fpga.host.client import HostLink
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.verilator.plan import note, read_plan

#: Takes a note on what was played.
Note: TypeAlias = Callable[[dict[str, Any]], None]

_CLOCK_NS = 10
_RESET_CYCLES = 4
#: Silence after which no reply is expected.
_WAIT_NS = 1_000_000
#: Seconds for which the host waits for a device.  A simulated one advances only as the machine
#: has time for it, so on a busy machine it would count as blocked.
_PATIENCE_S = 60.0


class _PinPort:
    """Serial port of a host; time advances only while the host reads or writes."""

    def __init__(self, dut: Any, baud: int):
        self._source = UartSource(dut.i_rx, baud=baud)
        self._sink = UartSink(dut.o_tx, baud=baud)

    def __str__(self) -> str:
        return "the UART pins"

    @property
    def in_waiting(self) -> int:
        return self._sink.count()

    def read(self, size: int) -> bytes:
        return resume(self._read)(size)

    def write(self, data: bytes) -> None:
        resume(self._source.write)(data)

    def close(self) -> None:
        """Nothing to do."""

    async def _read(self, size: int) -> bytes:
        await self._sink.wait(_WAIT_NS)
        return bytes(self._sink.read_nowait(min(size, self._sink.count())))


async def run_host(dut: Any, play: Callable[[HostLink, dict[str, Any], Note], set[str]]) -> None:
    """Reset a device, let a host play at its pins, and check line and lights.

    Parameters
    ----------
    dut : handle
        The device.
    play : callable
        The host's actions, given its link, the plan and a receiver of notes; returns the lights
        that must then be on besides "link up", by ``LIGHTS``.

    Raises
    ------
    Mismatch
        If the line has lost data, or the lights are wrong.
    """
    session.PATIENCE_S = _PATIENCE_S  # this process is the simulator's
    plan = read_plan()
    baud = 1_000_000_000 // (_CLOCK_NS * plan["divisor"])

    def host() -> set[str]:
        link = HostLink(port)
        lit = play(link, plan, note)
        if link.resends:
            raise Mismatch(f"A good line must lose nothing, not send {link.resends} frames again")
        return lit

    await _start(dut)
    port = _PinPort(dut, baud)
    due = await bridge(host)() | {"link up"}
    levels = int(dut.o_leds.value)
    lit = {name for bit, name in enumerate(LIGHTS) if levels >> bit & 1} - {"busy"}
    if lit != due:
        raise Mismatch(f"Lights on must be {sorted(due)}, not {sorted(lit)}")


async def _start(dut: Any) -> None:
    dut.i_rx.value = 1
    dut.rst.value = 1
    Clock(dut.clk, _CLOCK_NS, "ns").start()
    await ClockCycles(dut.clk, _RESET_CYCLES)
    dut.rst.value = 0
    await ClockCycles(dut.clk, _RESET_CYCLES)
