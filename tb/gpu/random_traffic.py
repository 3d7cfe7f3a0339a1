"""Test with constrained-random stimulus, all SMs at once, for any GPU detector.

Plan: ``region``; ``launches``, a list of mappings with ``report_filter`` and the detector's
stimulus parameters; ``busy`` and ``longest_idle`` of the streams; ``memory`` and ``report_memory``
(``MemoryKnobs``); ``ring_log2``; ``drain_cycles`` between two polls of the ring (0: only at the
end); ``axi_ram``, true to put cocotbext-axi's memory behind the metadata ports.
"""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from typing import Any

import cocotb

from racetrap.golden_model.events import Event
from racetrap.tb.gpu.gpu_test import GpuTest
from racetrap.tb.stream_agent import play_together

#: Cycles within which a transaction must make its steps, even with slow memory.
_CYCLES_PER_TRANSACTION = 2000


class RandomTraffic(GpuTest):
    """Random GPU runs, all SMs together."""

    def build_phase(self) -> None:
        super().build_phase()
        self.environment.has_third_party_memory = self.testbench.plan.get("axi_ram", False)

    async def body(self) -> None:
        for number, launch in enumerate(self.testbench.plan["launches"]):
            start, first_cycle = perf_counter(), self.testbench.clocking.cycle
            counters = await self._launch(number, launch)
            self.testbench.note({
                "launch": number, "compared": self.environment.scoreboard.compared,
                "cycles": self.testbench.clocking.cycle - first_cycle, "counters": counters,
                "seconds": round(perf_counter() - start, 3),
            })  # fmt: skip

    async def _launch(self, number: int, launch: dict[str, Any]) -> dict[str, int]:
        """Play one kernel; return the device's counters."""
        testbench, environment, plan = self.testbench, self.environment, self.testbench.plan
        await environment.launch(
            self.region(),
            plan.get("ring_log2", 8),
            report_filter=launch.get("report_filter", False),
        )
        reader = cocotb.start_soon(self._read_reports(plan.get("drain_cycles", 200)))
        stimulus = self._stimulus(number, launch)
        await play_together(
            testbench, dict(zip(environment.sms, stimulus, strict=True)),
            _CYCLES_PER_TRANSACTION * (sum(map(len, stimulus)) + 1),
            plan.get("busy", 1.0), plan.get("longest_idle", 1),
        )  # fmt: skip
        self._stop = True
        await reader
        return await environment.finish()

    def _stimulus(self, number: int, launch: dict[str, Any]) -> list[list[Any]]:
        """Transactions of each SM in launch ``number``."""
        params = self.testbench.params
        seed = self.testbench.random(f"stimulus {number}").getrandbits(32)
        model = self.environment.model_class(params, self.region())
        stimulus: list[list[Any]] = [[] for _ in range(params.sm_count)]
        for event in self.events(launch, seed):
            stimulus[event.sm] += model.transactions(event)
        return stimulus

    def events(self, launch: dict[str, Any], seed: int) -> Iterable[Event]:
        """What a launch plays, in order."""
        raise NotImplementedError

    async def _read_reports(self, cycles: int) -> None:
        """Call software's interrupt handler from time to time."""
        self._stop = False
        while cycles and not self._stop:
            await self.testbench.clocking.cycles(cycles)
            if await self.environment.software.status("ring_full"):
                self.environment.scoreboard.coverage.hit("report.ring_full")
            await self.environment.drain()
