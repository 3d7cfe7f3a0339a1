"""cocotb test with constrained-random operations; the plan says which.

Plan: ``runs``, a list of ``{operations, lines, enable}`` with the number of operations and of
memory lines that they are on (few for many races, many for full sets); ``busy`` and
``longest_idle`` of the stream; ``report_memory`` (``MemoryKnobs``); ``ring_log2``.
"""

from __future__ import annotations

from typing import Any

import cocotb

from racetrap.golden_model.noncoherent.packets import BusOperation
from racetrap.sim.cosim.noncoherent.random_bus_operations import random_bus_operations
from racetrap.tb.base_test import BaseTest, run_test
from racetrap.tb.noncoherent.environment import NoncoherentEnvironment


class _RandomOperations(BaseTest):
    environment_class = NoncoherentEnvironment

    async def body(self) -> None:
        plan, environment = self.testbench.plan, self.environment
        for number, run in enumerate(plan["runs"]):
            await environment.start(plan.get("ring_log2", 6), enable=run.get("enable", True))
            operations = self._operations(number, run)
            await environment.play(operations, plan.get("busy", 1.0), plan.get("longest_idle", 1))
            counters = await environment.finish()
            compared = len(environment.scoreboard.compared)
            self.testbench.note({"run": number, "compared": compared, "counters": counters})

    def _operations(self, number: int, run: dict[str, Any]) -> list[BusOperation]:
        params, random = self.testbench.params, self.testbench.random(f"stimulus {number}")
        size = run["lines"] * params.line_bytes
        return random_bus_operations(random, params, run["operations"], size)


@cocotb.test()
async def random_operations_of_all_kinds(dut):
    await run_test(dut, _RandomOperations)
