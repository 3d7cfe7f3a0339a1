"""Environment of the Race Detection Module alone: links, registers, scoreboard."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pyuvm import ConfigDB, uvm_env

from racetrap.golden_model.sigrace.environment import Remap
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.sigrace.rdm_software import RdmSoftware
from racetrap.tb.register_agent import RegisterAgent, SoftwareThread, poll
from racetrap.tb.sigrace.message_scoreboard import Flit, MessageScoreboard
from racetrap.tb.sigrace.rdm_monitors import rdm_monitors
from racetrap.tb.stream_agent import StreamAgent, play_together
from racetrap.tb.testbench import Testbench

_CYCLES_PER_MESSAGE = 3_000
_SETTLING_CYCLES = 8


def _flit(link: int, *values: int) -> tuple[int, Flit]:
    return link, Flit(*values)


class RdmEnvironment(uvm_env):
    """Testbench around one ``Rdm`` with a trace port.

    Configuration (ConfigDB): ``TESTBENCH``.

    Attributes
    ----------
    registers : RegisterAgent
        Register port.
    scoreboard : MessageScoreboard
        Comparison with the golden model.
    software : SoftwareThread
        ``RdmSoftware``, its methods as coroutines.
    """

    def build_phase(self) -> None:
        self._testbench: Testbench = ConfigDB().get(self, "", "TESTBENCH")
        params, pins = self._testbench.params, self._testbench.pins
        self.registers = RegisterAgent("registers", self)
        self._links = [
            StreamAgent(
                f"link_{link}", self, f"i_message__{link}", params.flit_layout, partial(_flit, link)
            )
            for link in range(params.cores)
        ]
        self._traces = rdm_monitors(self, "trace", params)
        self.scoreboard = MessageScoreboard("scoreboard", self)
        self.saturate = pins.writer("i_saturated", 0)
        self._idle, self._irq = pins.reader("o_idle"), pins.reader("irq")

    def connect_phase(self) -> None:
        for link in self._links:
            link.monitor.connect(self.scoreboard.flits)
        for trace in self._traces:
            trace.connect(self.scoreboard.steps)
        software = RdmSoftware(self.registers.port, self._testbench.params, poll)
        self.software = SoftwareThread(software)

    async def control(self, *, enable: bool = True) -> None:
        """Switch checking; no message may be in flight."""
        await self.software.control(enable=enable, irq_enable=True)
        self.scoreboard.settle()
        self.scoreboard.rdm.enabled = enable

    async def remap(self, remap: Remap) -> None:
        """Change CoreToThread; no message may be in flight."""
        await self.software.remap(remap)
        self.scoreboard.rdm.map(*remap)

    async def send(self, links: Sequence[Sequence[Flit]], idle: float = 0.0) -> None:
        """Send flits over all links at once, and wait until they have been taken."""
        cycles = (sum(map(len, links)) + 1) * _CYCLES_PER_MESSAGE
        payloads = dict(zip(self._links, links, strict=True))
        await play_together(self._testbench, payloads, cycles, busy=1 - idle)

    async def finish(self) -> None:
        """Wait until all is done, then compare what is left to compare."""
        clocking, rdm = self._testbench.clocking, self.scoreboard.rdm
        await clocking.cycles(_SETTLING_CYCLES)
        await clocking.until(
            lambda: bool(self._idle()), "module must become idle", 10 * _CYCLES_PER_MESSAGE
        )
        await clocking.cycles(_SETTLING_CYCLES)
        self.scoreboard.settle()
        counters, status = await self.software.counters(), await self.software.status()
        seen = {name: counters[name] for name in rdm.counters}
        seen |= {"reasons": status["reasons"], "irq": self._irq()}
        expected = rdm.counters | {"reasons": rdm.reasons, "irq": int(bool(rdm.reasons))}
        if seen != expected:
            raise Mismatch(f"Counters and requests must be {expected}, not {seen}")
        if (log := await self.software.log()) != rdm.log:
            raise Mismatch(f"Conflict log must be {rdm.log}, not {log}")
        self.scoreboard.coverage.finished(log, status["reasons"])
        for place, number in rdm.expected.items():
            _, due = await self.software.mapping(*place)
            if due != number:
                raise Mismatch(f"Sequence number due from {place} must be {number}, not {due}")
