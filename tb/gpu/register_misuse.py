"""Test of a GPU detector's register port: identity, misuse, refused launches, enable."""

from __future__ import annotations

from typing import Any, ClassVar

from racetrap.tb.gpu.gpu_test import GpuTest
from racetrap.tb.register_rules import RegisterRules, demand
from racetrap.tb.stream_agent import StreamSequence


class RegisterMisuse(GpuTest):
    """Reads and writes registers correctly and incorrectly.

    Attributes
    ----------
    letters : bytes
        The detector's in ``ID``.
    """

    letters: ClassVar[bytes]

    def store(self, warp: int, address: int) -> Any:
        """Transaction of a store by a warp."""
        raise NotImplementedError

    def stores(self, address: int) -> list[Any]:
        """Transactions of a store by each warp of an SM."""
        return [self.store(warp, address) for warp in range(self.testbench.params.warps_per_sm)]

    async def body(self) -> None:
        self._ports = self.environment.registers
        rules = RegisterRules(self.testbench, self._ports)
        has_local_metadata = bool(self.testbench.params.local_bytes)
        await rules.check_identity(self.letters, trace_port=1, local_metadata=has_local_metadata)
        await rules.check_errors()
        await rules.check_strobes("DATA_BASE_LO")
        await self._ignored("before the first launch")
        await self._traffic_after_launch()
        await self._refused_launches()
        await self._ignored_when_disabled()

    async def _traffic(self) -> None:
        """A store by each warp of each SM to the first line of the region."""
        base = self.region().parts[0][0]
        for agent in self.environment.sms:
            await StreamSequence(self.stores(base)).start(agent.sequencer)

    async def _ignored(self, when: str) -> None:
        """Transactions must be taken, but not checked: a step would be a mismatch."""
        before = await self._ports.read("ACCESSES")
        await self._traffic()
        await self.testbench.clocking.cycles(100)
        demand(f"Accesses checked {when}", await self._ports.read("ACCESSES"), before)

    async def _traffic_after_launch(self) -> None:
        await self.environment.launch(self.region(), 4)
        await self._traffic()
        await self.environment.software.wait_idle()

    async def _refused_launches(self) -> None:
        """A launch with illegal registers must change nothing: the previous one stays in force."""
        software, ports, params = self.environment.software, self._ports, self.testbench.params
        for register, illegal in (
            ("REGION_SIZE_LOG2", params.min_region_log2 - 1),
            ("REGION_SIZE_LOG2", params.max_region_log2 + 1),
            ("DATA_BASE_LO", self.region().parts[0][0] + 4),
            ("METADATA_BASE_LO", 4),
            ("REPORT_BASE_LO", 16),
            ("REPORT_CAPACITY_LOG2", 32),
        ):
            legal = await ports.read(register)
            await ports.write(register, illegal)
            await software.control(launch=1)
            await software.wait_idle()
            refused = await software.status("config_error")
            demand(f"STATUS.config_error with {register} = {illegal:#x}", refused, 1)
            await ports.write(register, legal)
        await self._traffic()
        await self.environment.finish()
        await self.environment.launch(self.region(), 4)
        demand("STATUS.config_error", await software.status("config_error"), 0)

    async def _ignored_when_disabled(self) -> None:
        await self._traffic()
        await self.environment.finish()
        self.environment.scoreboard.enabled = False
        await self.environment.software.control(enable=0)
        await self._ignored("while disabled")
        await self.environment.software.control(enable=1, clear_counters=1)
        demand("ACCESSES", await self._ports.read("ACCESSES"), 0)
