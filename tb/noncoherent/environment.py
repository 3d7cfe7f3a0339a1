"""Environment of the bus monitor: operations, registers, memory of the ring, scoreboard."""

from __future__ import annotations

from collections.abc import Sequence

from racetrap.golden_model.noncoherent.packets import BusOperation, Hit, MonitorStep, Row
from racetrap.sim.cosim.noncoherent.monitor_software import MonitorSoftware
from racetrap.tb.noncoherent.bus_agent import BusAgent
from racetrap.tb.noncoherent.scoreboard import ScoreboardComponent
from racetrap.tb.register_agent import SoftwareThread, poll
from racetrap.tb.report_ring import RING_BASE, ReportRingEnvironment
from racetrap.tb.stream_agent import StreamAgent, StreamMonitor, play_together

_ROW_FIELDS, _HIT_FIELDS = len(Row._fields), len(Hit._fields)
#: Cycles within which a row must be checked in the worst case.
_CYCLES_PER_ROW = 400


def _step(*values: int) -> MonitorStep:
    row, rest = values[:_ROW_FIELDS], values[_ROW_FIELDS:]
    dma, cache = rest[:_HIT_FIELDS], rest[_HIT_FIELDS : 2 * _HIT_FIELDS]
    return MonitorStep(Row(*row), Hit(*dma), Hit(*cache), rest[-1])


def _operation(*values: int) -> BusOperation:
    return BusOperation(*values)


class NoncoherentEnvironment(ReportRingEnvironment):
    """Testbench around one ``NoncoherentSystem`` with a trace port.

    Configuration (ConfigDB): ``TESTBENCH``.

    Attributes
    ----------
    operations : StreamAgent
        Operations of CPU and engines.
    registers, report_memory, scoreboard, software
        As of ``ReportRingEnvironment``.
    bus : BusAgent or None
        The engines' bus, if it is observed.
    """

    def build_phase(self) -> None:
        super().build_phase()
        params = self._testbench.params
        self.operations = StreamAgent(
            "operations", self, "i_operation", params.operation_layout, _operation
        )
        self._trace = StreamMonitor("trace", self, "trace", params.step_layout, _step)
        self.bus = BusAgent("bus", self) if params.observes_bus else None
        self.scoreboard = ScoreboardComponent("scoreboard", self)

    def connect_phase(self) -> None:
        self.operations.monitor.connect(self.scoreboard.operations)
        self._trace.connect(self.scoreboard.steps)
        if self.bus is not None:
            self.bus.cycles.connect(self.scoreboard.bus)
            self.bus.watch(self.scoreboard.coverage)
        self.software = SoftwareThread(MonitorSoftware(self.registers.port, poll))

    async def start(self, ring_log2: int, *, enable: bool = True) -> None:
        """Clear all operations; nothing may be in flight."""
        await self.software.start(RING_BASE, ring_log2, enable=enable, interrupt=True)
        self.report_memory.write_errors = 0
        self.scoreboard.start(enable=enable)

    async def play(self, operations: Sequence[BusOperation], busy: float, longest: int) -> None:
        """Offer operations, and wait until they have been taken."""
        rows = sum(max(operation.rows, 1) for operation in operations)
        await play_together(
            self._testbench, {self.operations: operations}, (rows + 1) * _CYCLES_PER_ROW, busy,
            longest,
        )  # fmt: skip

    async def finish(self) -> dict[str, int]:
        """Wait until all is done, then compare the remaining state.

        Returns
        -------
        dict of str to int
            The device's counters.
        """
        clocking, scoreboard, software = self._testbench.clocking, self.scoreboard, self.software
        await clocking.until(
            lambda: scoreboard.is_settled, "not every row has made a step", 100 * _CYCLES_PER_ROW
        )
        await software.wait_idle()
        await self.check_irq()
        scoreboard.reports_read(await self.records())
        await clocking.cycles(2)
        await self.check_irq()
        counters: dict[str, int] = await software.counters()
        scoreboard.finish(counters, self.report_memory.write_errors)
        return counters
