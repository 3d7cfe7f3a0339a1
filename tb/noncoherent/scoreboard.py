"""Scoreboard of the bus monitor: comparison of every step and report with the golden model's.

Operations of an observed bus and of the CPU each arrive in order; their interleaving is chosen by
the hardware, and taken from the rows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from pyuvm import ConfigDB, uvm_component

from racetrap.golden_model.noncoherent.axi_monitor import AxiMonitor, BusCycle
from racetrap.golden_model.noncoherent.monitor import Monitor
from racetrap.golden_model.noncoherent.packets import BusOperation, MonitorStep, Row, rows_of
from racetrap.sim.cosim.comparison.mismatch import Mismatch, compare_counters
from racetrap.sim.cosim.noncoherent.coverage import Coverage
from racetrap.sim.cosim.noncoherent.report_compare import compare_reports
from racetrap.tb.subscriber import Subscriber
from racetrap.tb.testbench import Testbench


class ScoreboardComponent(uvm_component):
    """Compares each step with the golden model's for the expected row.

    Attributes
    ----------
    operations, bus, steps : uvm_analysis_export
        Receive items from the monitors.
    coverage : Coverage
        Functional coverage of everything compared.
    compared : list of MonitorStep
        Steps since the start.
    """

    def build_phase(self) -> None:
        testbench: Testbench = ConfigDB().get(self, "", "TESTBENCH")
        self._params = testbench.params
        self.operations = Subscriber("operations", self, self._operation).analysis_export
        self.bus = Subscriber("bus", self, self._bus_cycle).analysis_export
        self.steps = Subscriber("steps", self, self._step).analysis_export
        # It counts bursts from reset on, checked or not.
        self._bus = AxiMonitor(testbench.params)
        self.coverage = Coverage(testbench.params)
        self.start(enable=False)

    def start(self, *, enable: bool) -> None:
        """Begin with empty sets; operations count only if checking is enabled."""
        self._enabled = enable
        self._monitor = Monitor(self._params)
        self._of_cpu: deque[Row] = deque()
        self._of_bus: deque[Row] = deque()
        self._records: list[int] = []
        self._operations: list[BusOperation] = []
        self.compared: list[MonitorStep] = []

    @property
    def is_settled(self) -> bool:
        """Whether every expected step has been seen."""
        return not self._of_cpu and not self._of_bus

    def reports_read(self, records: Sequence[int]) -> None:
        """Add records that software has read from the ring."""
        self._records += records

    def finish(self, counters: Mapping[str, int], write_errors: int) -> None:
        """Compare counters and reports on an idle device.

        Raises
        ------
        Mismatch
            If something differs, or nothing was compared although checking is enabled.
        """
        if self._enabled and not self.compared:
            raise Mismatch("Steps compared must number at least 1, not 0")
        compare_counters(counters, {"report_write_errors": write_errors, "bursts_lost": 0})
        compare_reports(self._params, self._records, self._operations, self.compared, counters)
        self.coverage.entries(self._monitor)

    def _operation(self, operation: BusOperation) -> None:
        if self._enabled:
            self.coverage.operations([operation])
            self._operations.append(operation)
            self._of_cpu.extend(rows_of(self._params, operation))

    def _bus_cycle(self, seen: BusCycle) -> None:
        operations = list(self._bus.cycle(seen))
        self.coverage.bus(seen, operations)
        if self._enabled:
            for operation in operations:
                self._of_bus.extend(rows_of(self._params, operation))

    def _step(self, step: MonitorStep) -> None:
        sources = [source for source in (self._of_bus, self._of_cpu) if source]
        if not sources:
            raise Mismatch(f"Step must follow an operation, not come alone: {step}")
        source = next((one for one in sources if one[0] == step.row), sources[-1])
        due = self._monitor.step(source.popleft())
        if step != due:
            raise Mismatch(f"Step {len(self.compared)} must be {due}, not {step}")
        self.compared.append(due)
        self.coverage.steps([due])
