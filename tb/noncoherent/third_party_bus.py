"""cocotbext-axi's manager and memory on a bus that the device only listens to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import cocotb
from cocotbext.axi import AxiBurstType, AxiBus, AxiMaster, AxiRam

from racetrap.golden_model.noncoherent.axi_monitor import Burst
from racetrap.tb.testbench import Testbench
from racetrap.tb.third_party_memory import pause_at_random


class ThirdPartyBus:
    """Traffic between a manager and a memory, both with pauses on each channel.

    Parameters
    ----------
    testbench : Testbench
        Shared context.
    port : str
        Prefix of the port that listens, in Verilog.
    """

    def __init__(self, testbench: Testbench, port: str):
        dut, self._testbench = testbench.pins.dut, testbench
        bits = testbench.params.address_bits
        bus = AxiBus.from_prefix(dut, port.removesuffix("_"))
        self._manager = AxiMaster(bus, dut.clk, dut.rst)
        self._ram = AxiRam(bus, dut.clk, dut.rst, size=1 << bits)
        for ends in (self._manager, self._ram):
            write, read = ends.write_if, ends.read_if
            pause_at_random(
                (write.aw_channel, write.w_channel, write.b_channel, read.ar_channel,
                 read.r_channel),
                testbench.random(f"{type(ends).__name__} pauses"),
            )  # fmt: skip

    async def play(self, bursts: Sequence[tuple[bool, Burst]], together: int) -> None:
        """Send bursts, each a write or a read, with a limit in flight, until all have ended."""
        waiting = iter(bursts)
        tasks = [cocotb.start_soon(self._send_all(waiting)) for _ in range(together)]
        await self._testbench.clocking.until(
            lambda: all(task.done() for task in tasks), "not every burst has ended", 1_000_000
        )

    async def _send_all(self, waiting: Iterator[tuple[bool, Burst]]) -> None:
        for is_write, burst in waiting:
            await self._send(is_write, burst)

    async def _send(self, is_write: bool, burst: Burst) -> None:
        kind, unit = AxiBurstType(burst.burst), 1 << burst.size
        # An unaligned burst has fewer bytes in its first beat.
        length = (burst.length + 1) * unit - burst.address % unit
        options = {"burst": kind, "size": burst.size}
        if is_write:
            await self._manager.write(burst.address, bytes(length), awid=burst.id, **options)
        else:
            await self._manager.read(burst.address, length, arid=burst.id, **options)
