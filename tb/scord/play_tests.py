"""cocotb tests that play given events in their global order: a trace, or micro-benchmarks.

Plan: as of ``PlayTrace``, or with ``suite`` (true) and ``schedules`` instead of the trace.
"""

from __future__ import annotations

import cocotb

from racetrap.sim.cosim.scord.suite import suite_runs
from racetrap.sim.gpu.suites.micro.program import program_region
from racetrap.tb.base_test import run_test
from racetrap.tb.gpu.play_trace import PlayTrace
from racetrap.tb.scord.environment import ScordEnvironment

_METADATA_BASE = 1 << 32


class _PlayTrace(PlayTrace):
    environment_class = ScordEnvironment


class _PlaySuite(_PlayTrace):
    async def body(self) -> None:
        plan, params = self.testbench.plan, self.testbench.params
        region = program_region(_METADATA_BASE % (1 << params.address_bits))
        runs = list(suite_runs(params, plan["schedules"], plan["seed"]))
        for number, run in enumerate(runs, 1):
            result = await self.play(region, run.events())
            self.testbench.note({
                "run": run.benchmark.name, "schedule": run.schedule,
                "placement": run.placement.value, "done": number, "total": len(runs), **result,
            })  # fmt: skip


@cocotb.test()
async def play_suite(dut):
    await run_test(dut, _PlaySuite)


@cocotb.test()
async def play_trace(dut):
    await run_test(dut, _PlayTrace)
