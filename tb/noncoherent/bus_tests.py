"""cocotb test of a monitor that observes a bus with third-party traffic; the plan says which.

Plan: ``runs``, a list of ``{bursts, together, operations, lines}``: bursts on the bus, how many of
them may be in flight, operations of the CPU meanwhile, and the lines of memory that those are on;
``busy`` and ``longest_idle`` of the stream of operations; ``report_memory`` (``MemoryKnobs``).
"""

from __future__ import annotations

from random import Random
from typing import Any

import cocotb

from racetrap.golden_model.axi import PAGE_BYTES, AxiBurst
from racetrap.golden_model.noncoherent.axi_monitor import Burst
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.sim.cosim.noncoherent.random_bus_operations import random_bus_operations
from racetrap.tb.base_test import BaseTest, run_test
from racetrap.tb.noncoherent.environment import NoncoherentEnvironment

_RING_LOG2 = 8
_LARGEST_SIZE = 3
_WRAP_LENGTHS = (2, 4, 8, 16)
_MOST_BEATS = {AxiBurst.FIXED: 16, AxiBurst.INCR: 256}


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
        traffic = cocotb.start_soon(
            environment.bus.play(
                [_burst(random, params, run["lines"]) for _ in range(run["bursts"])],
                run["together"],
            )
        )
        size = run["lines"] * params.line_bytes
        operations = random_bus_operations(random, params, run["operations"], size)
        await environment.play(operations, plan.get("busy", 1.0), plan.get("longest_idle", 1))
        await traffic
        counters = await environment.finish()
        self.testbench.note({
            "run": number, "bursts": environment.bus.bursts - seen,
            "compared": len(environment.scoreboard.compared), "counters": counters,
        })  # fmt: skip


def _burst(random: Random, params: NoncoherentParams, lines: int) -> tuple[bool, Burst]:
    """A read or write in the lines of the CPU, or at the beginning or end of a page."""
    kind, size = random.choice(list(AxiBurst)), random.randint(0, _LARGEST_SIZE)
    unit = 1 << size
    beats = random.choice((1, 2, random.randint(1, 16), _MOST_BEATS.get(kind, 1)))
    if kind is AxiBurst.WRAP:
        beats = random.choice(_WRAP_LENGTHS)
    # The manager model splits bursts that would cross a page as INCR bursts.
    last = PAGE_BYTES - unit * beats
    place = min(random.choice((random.randrange(lines * params.line_bytes), 0, last)), last)
    if kind is AxiBurst.WRAP:
        place &= -unit
    last_page = (1 << params.address_bits) - PAGE_BYTES
    page = random.choice((0, 0, 0, PAGE_BYTES, last_page))
    engine = random.randrange(params.engines)
    return random.random() < 0.5, Burst(engine, page + place, beats - 1, size, kind)


@cocotb.test()
async def operations_beside_a_bus(dut):
    await run_test(dut, _OperationsBesideABus)
