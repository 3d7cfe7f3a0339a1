"""cocotb test with constrained-random stimulus, all contexts at once; the plan says which.

Plan: ``runs``, a list of ``{knobs, changes, actions, enable, irq_enable, requests, serves}`` with
``knobs`` the name of a mix and ``changes`` single knobs to change, ``requests`` the pulses of
CONTROL before the run, ``serves`` whether the interrupt is answered; ``busy`` and ``longest_idle``
of the streams; ``trap_stall``.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import cocotb

from racetrap.sim.cosim.sigrace.knobs import KNOBS
from racetrap.sim.cosim.sigrace.random_events import random_events
from racetrap.tb.base_test import run_test
from racetrap.tb.sigrace.sigrace_test import SigraceTest


class _RandomEvents(SigraceTest):
    async def body(self) -> None:
        for number, run in enumerate(self.testbench.plan["runs"]):
            start, first_cycle = perf_counter(), self.testbench.clocking.cycle
            before = self.environment.scoreboard.taken
            counters, served = await self._run(number, run)
            self.testbench.note({
                "run": number, "events": self.environment.scoreboard.taken - before,
                "cycles": self.testbench.clocking.cycle - first_cycle, "counters": counters,
                "served": served, "seconds": round(perf_counter() - start, 3),
            })  # fmt: skip

    async def _run(self, number: int, run: dict[str, Any]) -> tuple[dict[str, int], int]:
        """Play one run; return the device's counters, and the interrupts handled."""
        environment, params = self.environment, self.testbench.params
        await environment.control(
            enable=run.get("enable", True), irq_enable=run.get("irq_enable", True)
        )
        await environment.request(*run.get("requests", ()))
        knobs = replace(KNOBS[run["knobs"]], **run.get("changes", {}))
        seed = self.testbench.random(f"stimulus {number}").getrandbits(32)
        commands = random_events(params, knobs, seed, run["actions"])
        sequence = await self.play(commands, serves=run.get("serves", False))
        return await environment.finish(), sequence.served


@cocotb.test()
async def random_events_of_all_contexts(dut):
    await run_test(dut, _RandomEvents)
