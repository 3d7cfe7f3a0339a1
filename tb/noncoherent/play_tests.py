"""cocotb test that plays the operations of a recorded trace.

Plan: ``trace`` (path of a trace of a CPU and its accelerators), ``busy``, ``longest_idle``.  Notes
give the progress (``done`` of ``total`` operations), and at the end the amounts compared.
"""

from __future__ import annotations

import cocotb

from racetrap.golden_model.noncoherent.packets import bus_operation
from racetrap.golden_model.trace.files import read_accelerator_trace
from racetrap.tb.base_test import BaseTest, run_test
from racetrap.tb.noncoherent.environment import NoncoherentEnvironment

_RING_LOG2 = 10
#: Operations between two polls of the ring, and between two notes of progress.
_RUN = 500


class _PlayTrace(BaseTest):
    environment_class = NoncoherentEnvironment

    async def body(self) -> None:
        testbench, environment = self.testbench, self.environment
        plan, params = testbench.plan, testbench.params
        trace = read_accelerator_trace(plan["trace"])
        operations = [bus_operation(params, number, one) for number, one in enumerate(trace)]
        await environment.start(_RING_LOG2)
        busy, longest = plan.get("busy", 1.0), plan.get("longest_idle", 1)
        for done in range(0, len(operations), _RUN):
            testbench.note({"done": done, "total": len(operations)})
            await environment.play(operations[done : done + _RUN], busy, longest)
        counters = await environment.finish()
        steps = len(environment.scoreboard.compared)
        testbench.note({"trace": plan["trace"], "steps": steps, "counters": counters})


@cocotb.test()
async def play_trace(dut):
    await run_test(dut, _PlayTrace)
