"""cocotb test of a monitor that observes a bus with third-party traffic; the plan says which.

Plan: ``runs``, a list of ``{bursts, together, operations, lines}``: bursts on the bus, how many of
them may be in flight, operations of the CPU meanwhile, and the lines of memory that those are on;
``busy`` and ``longest_idle`` of the stream of operations; ``report_memory`` (``MemoryKnobs``).
"""

from __future__ import annotations

from typing import Any

import cocotb

from racetrap.sim.cosim.noncoherent.random_bursts import random_bursts
from racetrap.sim.cosim.noncoherent.random_bus_operations import random_bus_operations
from racetrap.tb.base_test import BaseTest, run_test
from racetrap.tb.noncoherent.environment import NoncoherentEnvironment

_RING_LOG2 = 8
#: The largest that the manager model has; it splits bursts that would cross a page as INCR bursts.
_LARGEST_SIZE = 3


class _OperationsBesideABus(BaseTest):
    environment_class = NoncoherentEnvironment

    async def body(self) -> None:
        for number, run in enumerate(self.testbench.plan["runs"]):
            await self._play(number, run)

    async def _play(self, number: int, run: dict[str, Any]) -> None:
        plan, environment = self.testbench.plan, self.environment
        random = self.testbench.random(f"stimulus {number}")
        params = self.testbench.params
        await environment.start(_RING_LOG2)
        seen = environment.bus.bursts
        size = run["lines"] * params.line_bytes
        bursts = random_bursts(random, params, run["bursts"], size, _LARGEST_SIZE)
        traffic = cocotb.start_soon(environment.bus.play(bursts, run["together"]))
        operations = random_bus_operations(random, params, run["operations"], size)
        await environment.play(operations, plan.get("busy", 1.0), plan.get("longest_idle", 1))
        await traffic
        counters = await environment.finish()
        self.testbench.note({
            "run": number, "bursts": environment.bus.bursts - seen,
            "compared": len(environment.scoreboard.compared), "counters": counters,
        })  # fmt: skip


@cocotb.test()
async def operations_beside_a_bus(dut):
    await run_test(dut, _OperationsBesideABus)
