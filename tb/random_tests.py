"""cocotb tests with constrained-random stimulus; the plan says which.

Plan: ``region``; ``knobs`` (name of a knob preset), ``instructions``, ``launches``; ``busy``,
``longest_idle`` of the streams; ``memory``, ``report_memory`` (``MemoryKnobs``); ``ring_log2``,
``report_filter``, ``drain_cycles`` (between two looks at the ring; 0: only at the end).
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import cocotb

from racetrap.sim.gpu.knobs import KNOBS
from racetrap.sim.gpu.random_events import random_events, transactions_of
from racetrap.tb.base_test import BaseTest, run_test
from racetrap.tb.sequences import PlayTogether

__all__ = ["random_traffic"]


class _RandomTraffic(BaseTest):
    """Random GPU runs, all SMs together."""

    async def body(self) -> None:
        plan = self.bench.plan
        for launch in range(plan.get("launches", 1)):
            await self._launch(launch, plan)

    async def _launch(self, launch: int, plan: dict[str, Any]) -> None:
        bench, environment = self.bench, self.environment
        region = self.region()
        await environment.launch(
            region, plan.get("ring_log2", 8), report_filter=plan.get("report_filter", False)
        )
        seed = bench.random(f"stimulus {launch}").getrandbits(32)
        events = random_events(
            bench.params, region, KNOBS[plan["knobs"]], seed, plan["instructions"]
        )
        by_sm: list[list] = [[] for _ in environment.sms]
        for sm, transaction in transactions_of(events, bench.params):
            by_sm[sm].append(transaction)
        first_cycle, start = bench.clocking.cycle, perf_counter()
        reader = cocotb.start_soon(self._read_reports(plan.get("drain_cycles", 200)))
        sequence = PlayTogether(
            environment, bench, by_sm, plan.get("busy", 1.0), plan.get("longest_idle", 1)
        )
        await sequence.start()
        await bench.clocking.until(
            lambda: environment.scoreboard.is_settled, "not every packet has made a step", 50_000
        )
        self._stop = True
        await reader
        counters = await environment.finish()
        bench.note({
            "launch": launch, "compared": environment.scoreboard.compared, "counters": counters,
            "cycles": bench.clocking.cycle - first_cycle,
            "seconds": round(perf_counter() - start, 3),
        })  # fmt: skip

    async def _read_reports(self, cycles: int) -> None:
        """Software's interrupt handler, now and then."""
        self._stop = False
        while cycles and not self._stop:
            await self.bench.clocking.cycles(cycles)
            if await self.environment.software.status("ring_full"):
                self.environment.scoreboard.coverage.hit("report.ring_full")
            await self.environment.software.drain()


@cocotb.test()
async def random_traffic(dut):
    await run_test(dut, _RandomTraffic)
