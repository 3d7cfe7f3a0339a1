"""The environment of the Race Detection Module alone: links, registers, scoreboard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import cocotb
from pyuvm import ConfigDB, uvm_env, uvm_sequence

from racetrap.golden_model.sigrace.environment import Remap
from racetrap.golden_model.sigrace.packets import RdmStep
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.tb.bench import Bench
from racetrap.tb.register_agent import RegisterAgent
from racetrap.tb.sigrace.message_scoreboard import Flit, MessageScoreboard
from racetrap.tb.sigrace.software import Software
from racetrap.tb.stream_agent import StreamAgent, StreamItem
from racetrap.tb.trace_monitor import TraceMonitor

__all__ = ["RdmEnvironment"]

_CYCLES_PER_MESSAGE = 3_000
_SETTLING_CYCLES = 8


def _flit(link: int, *values: int) -> tuple[int, Flit]:
    return link, Flit(*values)


class _Flits(uvm_sequence):
    """Flits of one link, with an idle cycle now and then."""

    def __init__(self, flits: Iterable[Flit], idle: float, bench: Bench, link: int):
        super().__init__("flits")
        self._flits, self._idle, self._rng = flits, idle, bench.random(f"idle of link {link}")

    async def body(self) -> None:
        for flit in self._flits:
            item = StreamItem(flit, int(self._rng.random() < self._idle))
            await self.start_item(item)
            await self.finish_item(item)


class RdmEnvironment(uvm_env):
    """Bench around one ``Rdm`` with a trace port.

    Configuration (ConfigDB): ``BENCH``.

    Attributes
    ----------
    registers : RegisterAgent
        Register port.
    scoreboard : MessageScoreboard
        Comparison with the golden model.
    software : Software
        System software, once the components are connected.
    """

    def build_phase(self) -> None:
        self._bench: Bench = ConfigDB().get(self, "", "BENCH")
        params, pins = self._bench.params, self._bench.pins
        self.registers = RegisterAgent("registers", self)
        self._links = [
            StreamAgent(
                f"link_{link}", self, f"i_message__{link}", params.flit_layout, partial(_flit, link)
            )
            for link in range(params.cores)
        ]
        self._trace = TraceMonitor("trace", self, "trace", params.rdm_step_layout, RdmStep)
        self.scoreboard = MessageScoreboard("scoreboard", self)
        self.saturate = pins.writer("i_saturated", 0)
        self._idle, self._irq = pins.reader("o_idle"), pins.reader("irq")

    def connect_phase(self) -> None:
        for link in self._links:
            link.monitor.connect(self.scoreboard.flits)
        self._trace.steps.connect(self.scoreboard.steps)
        self.software = Software(self._bench.params, self.registers)

    async def control(self, *, enable: bool = True) -> None:
        """Switch checking; no message may be under way."""
        await self.software.control(enable=enable)
        self.scoreboard.settle()
        self.scoreboard.rdm.enabled = enable

    async def remap(self, remap: Remap) -> None:
        """Change CoreToThread; no message may be under way."""
        await self.software.remap(remap)
        self.scoreboard.rdm.map(*remap)

    async def send(self, links: Sequence[Sequence[Flit]], idle: float = 0.0) -> None:
        """Send flits over all links at once, and wait until they have been taken."""
        tasks = [
            cocotb.start_soon(_Flits(flits, idle, self._bench, link).start(agent.sequencer))
            for link, (agent, flits) in enumerate(zip(self._links, links, strict=True))
        ]
        count = sum(map(len, links)) + 1
        await self._bench.clocking.until(
            lambda: all(task.done() for task in tasks),
            "not every flit was taken",
            count * _CYCLES_PER_MESSAGE,
        )

    async def finish(self) -> None:
        """Wait until all is done, then compare what is left to compare."""
        clocking, rdm = self._bench.clocking, self.scoreboard.rdm
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
