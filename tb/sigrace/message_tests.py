"""cocotb test of the Race Detection Module alone (part ``rdm``): messages no core unit sends.

Plan: ``messages`` of each link and phase, ``faults`` (probability), ``idle`` (probability of an
idle cycle before a flit).
"""

from __future__ import annotations

from functools import partial

import cocotb

from racetrap.golden_model.sigrace.environment import Remap, Slot
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.sigrace.random_messages import RandomMessages
from racetrap.tb.base_test import BaseTest, run_test
from racetrap.tb.sigrace.message_scoreboard import Flit
from racetrap.tb.sigrace.rdm_environment import RdmEnvironment

_ATTEMPTS = 4
_SCAN_CYCLES = 2_000


def _flits(message: tuple[int, ...]) -> list[Flit]:
    last = len(message) - 1
    return [Flit(data, int(number == last)) for number, data in enumerate(message)]


class _FaultyMessages(BaseTest):
    environment_class = RdmEnvironment

    async def body(self) -> None:
        params, plan = self.testbench.params, self.testbench.plan
        self._source = RandomMessages(params, self.testbench.random("messages"))
        self._cores = range(params.cores)
        everyone = {
            (core, context): number % params.threads
            for number, (core, context) in enumerate(
                (core, context) for core in self._cores for context in range(params.contexts)
            )
        }
        someone = dict(list(everyone.items())[:1])
        faults = plan.get("faults", 0.3)
        await self._phase(everyone, 0.0)
        await self._phase(everyone, faults)
        await self._phase(someone, faults)
        await self._phase(everyone, faults, enable=False)
        await self._cut(everyone)
        await self._phase(everyone, faults)
        await self._flush_while_scanning(everyone)
        await self._saturation()
        self.testbench.note({"messages": self.environment.scoreboard.messages})

    async def _map(self, threads: dict[Slot, int]) -> None:
        for core in self._cores:
            for context in range(self.testbench.params.contexts):
                await self.environment.remap(Remap(core, context, threads.get((core, context))))

    async def _phase(self, threads: dict[Slot, int], faults: float, enable: bool = True) -> None:
        """Messages over all links at once, with a mapping."""
        environment, plan = self.environment, self.testbench.plan
        await environment.control(enable=enable)
        await self._map(threads)
        links = [
            [
                flit
                for _ in range(plan.get("messages", 60))
                for flit in _flits(self._source.message(link, threads, faults))
            ]
            for link in self._cores
        ]
        await environment.send(links, plan.get("idle", 0.1))
        await environment.finish()

    async def _cut(self, threads: dict[Slot, int]) -> None:
        """A reset in the middle of a message must discard all of it."""
        begun = _flits(self._source.message(0, threads, 0))[:-1]
        await self.environment.send([begun, *([] for _ in self._cores[1:])])
        await self.testbench.clocking.reset()
        self.environment.scoreboard.reset()
        self.environment.scoreboard.coverage.hit("message.cut_by_reset")
        self._source.restart()

    async def _flush_while_scanning(self, threads: dict[Slot, int]) -> None:
        """A flush, and clearing of the log, wait for the message that is being compared."""
        environment, scoreboard = self.environment, self.environment.scoreboard
        is_met = False
        for _ in range(_ATTEMPTS):
            await self._phase(threads, 0.0)  # the queues are full now
            after = scoreboard.messages + 1
            message = _flits(self._source.message(0, threads, 0))
            await environment.send([message, *([] for _ in self._cores[1:])])
            await self.testbench.clocking.until(
                partial(self._is_compared, after), "message was not compared", _SCAN_CYCLES
            )
            await environment.software.pulse("flush", "clear_log")
            is_met |= scoreboard.is_scanning
            await environment.software.wait_idle()
            scoreboard.settle()
            scoreboard.rdm.flush()
            scoreboard.rdm.clear_log()
            await environment.finish()
        if is_met:
            scoreboard.coverage.hit("software.flush_while_scanning")

    def _is_compared(self, messages: int) -> bool:
        """Whether a number of messages are complete, or the last of them is being compared."""
        scoreboard = self.environment.scoreboard
        return scoreboard.is_scanning or scoreboard.messages >= messages

    async def _saturation(self) -> None:
        """Inputs from the core units must show in STATUS."""
        for value in (1, 0):
            self.environment.saturate(value)
            await self.testbench.clocking.cycles(2)
            seen = (await self.environment.software.status())["saturated"]
            if seen != value:
                raise Mismatch(f"STATUS.saturated must be {value}, not {seen}")


@cocotb.test()
async def faulty_messages(dut):
    await run_test(dut, _FaultyMessages)
