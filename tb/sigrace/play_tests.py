"""cocotb test that plays a recorded program on the cores, in an environment of Section 4.3.

Plan: ``trace`` (path of a trace of threads), ``environment`` (``name``, ``quantum``, ``seed``;
fixed by default), ``busy``, ``longest_idle``, ``trap_stall``, ``serves`` (true by default: the
interrupt is answered).  Notes give the progress (``done`` of ``total`` events), and at the end the
amounts compared.
"""

from __future__ import annotations

from time import monotonic

import cocotb

from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.playback import play
from racetrap.golden_model.trace.files import read_thread_trace
from racetrap.tb.base_test import run_test
from racetrap.tb.sigrace.sigrace_test import SigraceTest

_NOTE_SECONDS = 0.2
_NOTE_CYCLES = 200


class _PlayTrace(SigraceTest):
    async def body(self) -> None:
        testbench, plan = self.testbench, self.testbench.plan
        trace = read_thread_trace(plan["trace"])
        commands = list(play(trace, testbench.params, Environment(**plan.get("environment", {}))))
        await self.environment.control()
        await self.environment.request("flush", "clear_log", "clear_counters")
        first_cycle = testbench.clocking.cycle
        progress = cocotb.start_soon(self._progress(len(commands)))
        sequence = await self.play(commands, serves=plan.get("serves", True))
        cycles = testbench.clocking.cycle - first_cycle
        progress.cancel()
        counters = await self.environment.finish()
        comparison = self.environment.scoreboard.comparison
        testbench.note({
            "trace": plan["trace"], "events": comparison.events, "messages": comparison.messages,
            "steps": comparison.events + comparison.rdm_steps, "rollbacks": sequence.served,
            "cycles": cycles, "counters": counters,
        })  # fmt: skip

    async def _progress(self, total: int) -> None:
        """Note from time to time how many events have been taken."""
        noted = monotonic()
        while True:
            await self.testbench.clocking.cycles(_NOTE_CYCLES)
            if monotonic() - noted > _NOTE_SECONDS:
                noted = monotonic()
                self.testbench.note({"done": self.environment.scoreboard.taken, "total": total})


@cocotb.test()
async def play_trace(dut):
    await run_test(dut, _PlayTrace)
