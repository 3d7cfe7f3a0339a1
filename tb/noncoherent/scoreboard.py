"""Scoreboard of the bus monitor: every step and report beside the golden model's."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from pyuvm import ConfigDB, uvm_component

from racetrap.golden_model.noncoherent.monitor import Monitor
from racetrap.golden_model.noncoherent.packets import BusOperation, MonitorStep, rows_of
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.noncoherent.coverage import Coverage
from racetrap.sim.cosim.noncoherent.report_compare import compare_reports
from racetrap.tb.subscriber import Subscriber
from racetrap.tb.testbench import Testbench

__all__ = ["ScoreboardComponent"]


class ScoreboardComponent(uvm_component):
    """Predicts the steps of each operation that is taken, and compares them as they come.

    Attributes
    ----------
    operations, steps : uvm_analysis_export
        Take what the monitors publish.
    coverage : Coverage
        Functional coverage of everything compared.
    compared : list of MonitorStep
        Steps since the start.
    """

    def build_phase(self) -> None:
        testbench: Testbench = ConfigDB().get(self, "", "TESTBENCH")
        self._params = testbench.params
        self.operations = Subscriber("operations", self, self._operation).analysis_export
        self.steps = Subscriber("steps", self, self._step).analysis_export
        self.coverage = Coverage(testbench.params)
        self.start(enable=False)

    def start(self, *, enable: bool) -> None:
        """Begin with empty sets; operations count only if checking is enabled."""
        self._enabled = enable
        self._monitor = Monitor(self._params)
        self._due: deque[MonitorStep] = deque()
        self._records: list[int] = []
        self.compared: list[MonitorStep] = []

    @property
    def is_settled(self) -> bool:
        """Whether every step that is due has come."""
        return not self._due

    def reports_read(self, records: Sequence[int]) -> None:
        """Software has read records from the ring."""
        self._records += records

    def finish(self, counters: Mapping[str, int], write_errors: int) -> None:
        """The device is idle: compare counters and reports.

        Raises
        ------
        Mismatch
            If something differs, or nothing was compared although checking is enabled.
        """
        if self._enabled and not self.compared:
            raise Mismatch("Steps compared must number at least 1, not 0")
        if counters["report_write_errors"] != write_errors:
            raise Mismatch(
                f"Counter report_write_errors must be {write_errors}, "
                f"not {counters['report_write_errors']}"
            )
        compare_reports(self._params, self._records, self.compared, counters)
        self.coverage.entries(self._monitor)

    def _operation(self, operation: BusOperation) -> None:
        if self._enabled:
            self.coverage.operations([operation])
            self._due.extend(self._monitor.run(rows_of(self._params, operation)))

    def _step(self, step: MonitorStep) -> None:
        if not self._due:
            raise Mismatch(f"Step must follow an operation, not come alone: {step}")
        due = self._due.popleft()
        if step != due:
            raise Mismatch(f"Step {len(self.compared)} must be {due}, not {step}")
        self.compared.append(due)
        self.coverage.steps([due])
