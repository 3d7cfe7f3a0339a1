"""Agent of an observed AXI4 bus: third-party traffic, and a listener's view of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyuvm import ConfigDB, uvm_agent, uvm_analysis_port

from racetrap.golden_model.noncoherent.axi_monitor import Burst, BusCycle
from racetrap.sim.cosim.comparison.coverage import BinCounts
from racetrap.tb.noncoherent.third_party_bus import ThirdPartyBus
from racetrap.tb.port_coverage import watch_streams
from racetrap.tb.testbench import Testbench

_PORT = "i_axi__"
_FIELDS = ("id", "addr", "len", "size", "burst")


class BusAgent(uvm_agent):
    """cocotbext-axi's manager and memory on the bus, and a monitor that publishes its cycles.

    Attributes
    ----------
    cycles : uvm_analysis_port
        Publishes ``BusCycle`` for each cycle with a handshake that counts.
    bursts : int
        Address handshakes seen.
    """

    def build_phase(self) -> None:
        self._testbench: Testbench = ConfigDB().get(self, "", "TESTBENCH")
        pins = self._testbench.pins
        self._traffic = ThirdPartyBus(self._testbench, _PORT)
        self.cycles = uvm_analysis_port("cycles", self)
        self.bursts = 0
        self._addresses = {
            kind: (
                pins.handshake(f"{_PORT}{channel}"),
                [pins.reader(f"{_PORT}{channel}{field}") for field in _FIELDS],
            )
            for kind, channel in (("read", "ar"), ("write", "aw"))
        }
        self._responses = {
            "read_done": (
                pins.handshake(f"{_PORT}r") | pins.flag(f"{_PORT}rlast"), pins.reader(f"{_PORT}rid")
            ),
            "write_done": (pins.handshake(f"{_PORT}b"), pins.reader(f"{_PORT}bid")),
        }  # fmt: skip
        self._testbench.clocking.each(self._look)

    def watch(self, coverage: BinCounts) -> None:
        """Count stalls of the observed channels, and transfers without a pause."""
        for channel in ("aw", "ar", "r", "b"):
            watch_streams(self._testbench, coverage, f"bus.{channel}", [f"{_PORT}{channel}"])

    async def play(self, bursts: Sequence[tuple[bool, Burst]], together: int) -> None:
        """Send bursts, each a write or a read, with a limit in flight, until all have ended."""
        await self._traffic.play(bursts, together)

    def _look(self, flags: int) -> None:
        seen: dict[str, Any] = {}
        for name, (mask, fields) in self._addresses.items():
            if flags & mask == mask:
                self.bursts += 1
                seen[name] = Burst(*[read() for read in fields])
        for name, (mask, number) in self._responses.items():
            if flags & mask == mask:
                seen[name] = number()
        if seen:
            self.cycles.write(BusCycle(**seen))
