"""Environment of the bus monitor: operations, registers, memory of the ring, scoreboard."""

from __future__ import annotations

from collections.abc import Sequence

from pyuvm import ConfigDB, uvm_env

from racetrap.golden_model.noncoherent.packets import BusOperation, Hit, MonitorStep, Row
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.noncoherent.monitor_software import MonitorSoftware
from racetrap.tb.axi_memory import AxiMemory
from racetrap.tb.memory_knobs import MemoryKnobs
from racetrap.tb.noncoherent.bus_agent import BusAgent
from racetrap.tb.noncoherent.scoreboard import ScoreboardComponent
from racetrap.tb.register_agent import RegisterAgent, SoftwareThread, poll
from racetrap.tb.stream_agent import StreamAgent, StreamMonitor, play_together
from racetrap.tb.testbench import Testbench

_RING_BASE = 0x2000
_REPORT_BEATS, _BEAT_BYTES = 4, 8
_ROW_FIELDS, _HIT_FIELDS = len(Row._fields), len(Hit._fields)
#: Cycles in which a row must have been checked, whatever it meets.
_CYCLES_PER_ROW = 400


def _step(*values: int) -> MonitorStep:
    row, rest = values[:_ROW_FIELDS], values[_ROW_FIELDS:]
    dma, cache = rest[:_HIT_FIELDS], rest[_HIT_FIELDS : 2 * _HIT_FIELDS]
    return MonitorStep(Row(*row), Hit(*dma), Hit(*cache), rest[-1])


def _operation(*values: int) -> BusOperation:
    return BusOperation(*values)


class NoncoherentEnvironment(uvm_env):
    """Testbench around one ``NoncoherentSystem`` with a trace port.

    Configuration (ConfigDB): ``TESTBENCH``.

    Attributes
    ----------
    operations : StreamAgent
        Operations of CPU and engines.
    registers : RegisterAgent
        Register port.
    memory : AxiMemory
        Memory of the ring buffer.
    bus : BusAgent or None
        The engines' bus, if it is observed.
    scoreboard : ScoreboardComponent
        Comparison with the golden model.
    software : SoftwareThread
        ``MonitorSoftware``, its methods as coroutines.
    """

    def build_phase(self) -> None:
        self._testbench: Testbench = ConfigDB().get(self, "", "TESTBENCH")
        params, plan = self._testbench.params, self._testbench.plan
        self.registers = RegisterAgent("registers", self)
        self.operations = StreamAgent(
            "operations", self, "i_operation", params.operation_layout, _operation
        )
        knobs = MemoryKnobs(**plan.get("report_memory", {}))
        self.memory = AxiMemory("memory", self, "m_axi_report", _REPORT_BEATS, knobs)
        self._trace = StreamMonitor("trace", self, "trace", params.step_layout, _step)
        self.bus = BusAgent("bus", self) if params.observes_bus else None
        self.scoreboard = ScoreboardComponent("scoreboard", self)
        self._irq = self._testbench.pins.reader("irq")

    def connect_phase(self) -> None:
        self.operations.monitor.connect(self.scoreboard.operations)
        self._trace.connect(self.scoreboard.steps)
        if self.bus is not None:
            self.bus.cycles.connect(self.scoreboard.bus)
            self.bus.watch(self.scoreboard.coverage)
        self.software = SoftwareThread(MonitorSoftware(self.registers.port, poll))

    async def start(self, ring_log2: int, *, enable: bool = True) -> None:
        """Forget all operations; nothing may be in flight."""
        await self.software.start(_RING_BASE, ring_log2, enable=enable, interrupt=True)
        self.memory.write_errors = 0
        self.scoreboard.start(enable=enable)

    async def play(self, operations: Sequence[BusOperation], busy: float, longest: int) -> None:
        """Offer operations, and wait until they have been taken."""
        rows = sum(max(operation.rows, 1) for operation in operations)
        await play_together(
            self._testbench, {self.operations: operations}, (rows + 1) * _CYCLES_PER_ROW, busy,
            longest,
        )  # fmt: skip

    async def finish(self) -> dict[str, int]:
        """Wait until all is done, then compare what is left to compare.

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
        await self._check_irq()
        scoreboard.reports_read(await software.read_records(self._record))
        await clocking.cycles(2)
        await self._check_irq()
        counters: dict[str, int] = await software.counters()
        scoreboard.finish(counters, self.memory.write_errors)
        return counters

    def _record(self, place: int) -> int:
        size = _REPORT_BEATS * _BEAT_BYTES
        words = range(_RING_BASE + place * size, _RING_BASE + (place + 1) * size, _BEAT_BYTES)
        return sum(self.memory.read_word(word) << 64 * n for n, word in enumerate(words))

    async def _check_irq(self) -> None:
        """The interrupt line must be high if, and only if, the ring holds records."""
        has_records = await self.software.has_records()
        if self._irq() != has_records:
            raise Mismatch(f"Interrupt line must be {int(has_records)}, not {self._irq()}")
