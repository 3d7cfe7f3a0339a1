"""Environment of SigRace: every agent of the system, scoreboard, requests of software."""

from __future__ import annotations

from functools import partial

from pyuvm import ConfigDB, uvm_env

from racetrap.golden_model.sigrace.environment import Slot
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreStep, Trap
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.sigrace.rdm_software import RdmSoftware
from racetrap.tb.port_coverage import watch_streams
from racetrap.tb.register_agent import RegisterAgent, SoftwareThread, poll
from racetrap.tb.sigrace.rdm_monitors import rdm_monitors
from racetrap.tb.sigrace.scoreboard import ScoreboardComponent
from racetrap.tb.sigrace.state_check import check_state
from racetrap.tb.stream_agent import SinkAgent, StreamAgent, StreamMonitor
from racetrap.tb.testbench import Testbench

_EVENT_FIELDS = len(CoreEvent._fields)
#: Cycles within which the longest message is sent and compared in the worst case.
_IDLE_CYCLES = 200_000
#: Cycles after which an event's effects show at the ports.
_SETTLING_CYCLES = 8


def _event(place: Slot, *values: int) -> tuple[Slot, CoreEvent]:
    return place, CoreEvent(*values)


def _core_step(place: Slot, *values: int) -> tuple[Slot, CoreStep]:
    return place, CoreStep(CoreEvent(*values[:_EVENT_FIELDS]), *values[_EVENT_FIELDS:])


def _trap(place: Slot, *values: int) -> tuple[Slot, Trap]:
    return place, Trap(*values)


class SigraceEnvironment(uvm_env):
    """Testbench around one ``SigraceSystem`` with a trace port.

    Configuration (ConfigDB): ``TESTBENCH``; ``trap_stall`` of the plan is the probability that no
    trap record is taken in a cycle.

    Attributes
    ----------
    contexts : dict of (int, int) to StreamAgent
        Events of each context, by core and context.
    registers : RegisterAgent
        Register port.
    scoreboard : ScoreboardComponent
        Comparison with the golden model.
    software : SoftwareThread
        ``RdmSoftware``, its methods as coroutines.
    """

    def build_phase(self) -> None:
        self._testbench: Testbench = ConfigDB().get(self, "", "TESTBENCH")
        params = self._testbench.params
        stall = self._testbench.plan.get("trap_stall", 0.0)
        places = [(core, n) for core in range(params.cores) for n in range(params.contexts)]
        self.registers = RegisterAgent("registers", self)
        self.contexts: dict[Slot, StreamAgent] = {}
        self._traps, self._traces = [], []
        for number, place in enumerate(places):
            self.contexts[place] = StreamAgent(
                f"context_{number}", self, f"i_event__{number}", params.event_layout,
                partial(_event, place),
            )  # fmt: skip
            self._traps.append(SinkAgent(
                f"traps_{number}", self, f"o_trap__{number}", params.trap_layout,
                partial(_trap, place), stall,
            ))  # fmt: skip
            self._traces.append(StreamMonitor(
                f"trace_core_{number}", self, f"trace_core__{number}", params.core_step_layout,
                partial(_core_step, place),
            ))  # fmt: skip
        self._trace_rdm = rdm_monitors(self, "trace_rdm", params)
        self.scoreboard = ScoreboardComponent("scoreboard", self)

    def connect_phase(self) -> None:
        scoreboard = self.scoreboard
        for agent in self.contexts.values():
            agent.monitor.connect(scoreboard.events)
        for sink in self._traps:
            sink.monitor.connect(scoreboard.traps)
        for trace in self._traces:
            trace.connect(scoreboard.core_steps)
        for trace in self._trace_rdm:
            trace.connect(scoreboard.rdm_steps)
        testbench, coverage = self._testbench, scoreboard.coverage
        pins, units = testbench.pins, range(len(self.contexts))
        watch_streams(testbench, coverage, "event", [f"i_event__{n}__" for n in units])
        traps = [f"o_trap__{n}__" for n in units]
        watch_streams(testbench, coverage, "trap", traps, stalls_only=True)
        testbench.clocking.when(pins.flag("irq"), partial(coverage.hit, "rollback.interrupt"))
        self._idle, self._irq = pins.reader("o_idle"), pins.reader("irq")
        software = RdmSoftware(self.registers.port, testbench.params, poll)
        self.software = SoftwareThread(software)

    async def control(self, *, enable: bool = True, irq_enable: bool = True) -> None:
        """Switch checking and the interrupt; no message may be in flight."""
        await self.software.control(enable=enable, irq_enable=irq_enable)
        self.scoreboard.comparison.enable(enable)
        if not enable:
            self.scoreboard.coverage.hit("software.disable")

    async def request(self, *names: str) -> None:
        """Write pulses of CONTROL, to hardware and golden model; no message may be in flight."""
        await self.software.pulse(*names)
        await self.software.wait_idle()
        for name in names:
            getattr(self.scoreboard.comparison, name)()
            self.scoreboard.coverage.hit(f"software.{name}")

    async def settle(self) -> None:
        """Wait until nothing is in flight; sequences must have ended, or wait."""
        clocking, comparison = self._testbench.clocking, self.scoreboard.comparison
        await clocking.cycles(_SETTLING_CYCLES)
        await clocking.until(
            lambda: bool(self._idle()) and not comparison.traps_due(),
            "system must become idle, and give all trap records",
            _IDLE_CYCLES,
        )
        await clocking.cycles(_SETTLING_CYCLES)

    async def finish(self) -> dict[str, int]:
        """Wait until all is done, then compare the remaining state.

        Returns
        -------
        dict of str to int
            The device's counters.
        """
        await self.settle()
        software, comparison = self.software, self.scoreboard.comparison
        if not self.scoreboard.taken:
            raise Mismatch("Events compared must number at least 1, not 0")
        status, counters = await software.status(), await software.counters()
        comparison.finish(await software.log(), status["reasons"], counters)
        self._cover(counters, status)
        wanted = bool(status["reasons"]) and software.has_interrupt
        if self._irq() != wanted:
            raise Mismatch(f"Interrupt line must be {int(wanted)}, not {self._irq()}")
        await check_state(self._testbench, self.scoreboard, software, status)
        return counters

    def _cover(self, counters: dict[str, int], status: dict[str, int]) -> None:
        hits = {
            "message.ignored": counters["ignored"],
            "link.stalled": counters["stall_cycles"],
            "log.dropped": counters["log_dropped"],
            "status.saturated": status["saturated"],
            "status.sequence_gap": status["sequence_gap"],
            "rollback.masked": status["reasons"] and not self.software.has_interrupt,
        }
        for name, is_hit in hits.items():
            if is_hit:
                self.scoreboard.coverage.hit(name)
