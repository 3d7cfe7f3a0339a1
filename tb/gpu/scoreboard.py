"""Scoreboard component: passes the monitors' observations to the comparison."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pyuvm import ConfigDB, uvm_component

from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.tb.memory_knobs import ReadRecord
from racetrap.tb.subscriber import Subscriber
from racetrap.tb.testbench import Testbench


class GpuScoreboard(uvm_component):
    """Compares one kernel launch after the other with the golden model.

    Attributes
    ----------
    transactions, steps, reads : uvm_analysis_export
        Receive items from the monitors and the metadata memories.
    coverage : Coverage
        Functional coverage of everything compared.
    enabled : bool
        Whether transactions are being checked (``CONTROL.enable``).
    due, compared : int
        Expected steps of the transactions seen, and steps compared, since the launch.
    races : list of (int, Step)
        Bank and step of each race, since the launch.
    coverage_class, comparison_class : type
        Classes of the detector; the comparison takes parameters, region and observer.
    """

    coverage_class: Any
    comparison_class: Any

    def build_phase(self) -> None:
        testbench: Testbench = ConfigDB().get(self, "", "TESTBENCH")
        self._params = testbench.params
        self._cycle = lambda: testbench.clocking.cycle
        self.transactions = Subscriber("transactions", self, self._transaction).analysis_export
        self.steps = Subscriber("steps", self, self._step).analysis_export
        self.reads = Subscriber("reads", self, self._read).analysis_export
        self.coverage = self.coverage_class(testbench.params)
        self.knows_reads = False
        self.enabled = False
        self._scoreboard: Any = None

    def launch(self, region: MonitoredRegion) -> None:
        """Start with a new golden model after a launch."""
        self._region: Any = region
        self._scoreboard = self.comparison_class(self._params, region, observer=self)
        self._reads: defaultdict[int, deque[ReadRecord]] = defaultdict(deque)
        self.due = self.compared = 0
        self.races: list[tuple[int, Any]] = []
        self.enabled = True
        self.coverage.launch(region)

    @property
    def _comparison(self) -> Any:
        if self._scoreboard is None:
            raise Mismatch("Device must do nothing before the first launch")
        return self._scoreboard

    @property
    def is_settled(self) -> bool:
        """Whether every expected step has been seen."""
        return self.compared == self.due

    def finish(
        self,
        counters: Mapping[str, int],
        memory: Callable[[int], int] | None,
        read_errors: int,
        reached: Iterable[int] | None,
    ) -> None:
        """Check on an idle device that nothing is left over, and something was compared."""
        if self.compared == 0:
            raise Mismatch("Steps compared must number at least 1, not 0")
        left = sum(map(len, self._reads.values()))
        if left:
            raise Mismatch(f"Metadata reads without a step must number 0, not {left}")
        self._comparison.finish(
            counters, memory, read_errors if self.knows_reads else None, reached
        )

    # What monitors saw --------------------------------------------------------------------

    def _transaction(self, datum: tuple[Any, ...]) -> None:
        if self.enabled:
            self._comparison.transaction(*datum)

    def _read(self, record: ReadRecord) -> None:
        self._reads[record.address].append(record)

    def _step(self, datum: tuple[int, Any]) -> None:
        bank, step = datum
        error = None
        if self.knows_reads:
            error = self._read_error(step)
        self._comparison.step(bank, step, error)

    def _read_error(self, step: Any) -> bool:
        """Whether this step's own metadata read was answered with an error.

        A step that was forwarded has no read.  A read that belongs to a later step cannot have
        been answered yet: it is made only after this step's write was.
        """
        index = self.entry_of(step)
        if index is None:
            return False
        reads = self._reads[self._region.metadata_base + index * self._params.entry_bytes]
        done = reads and reads[0].done_cycle is not None and reads[0].done_cycle < self._cycle()
        self.coverage.hit("entry.read" if done else "entry.forwarded")
        return reads.popleft().error if done else False

    def reports(self, report: Any) -> list[Any]:
        """Reports of all races since the launch, of a class, without their numbers."""
        return [report.from_step(self._params, step, bank) for bank, step in self.races]

    def entry_of(self, step: Any) -> int | None:
        """Index of the entry that a step needs; None if it needs none."""
        raise NotImplementedError

    # Observer of the comparison -----------------------------------------------------------

    def step(self, bank: int, step: Any) -> None:
        self.compared += 1
        if step.race:
            self.races.append((bank, step))
        self.coverage.step(bank, step)

    def report(self, report: Any) -> None:
        self.coverage.report(report)

    def report_read(self, record: int) -> None:
        """A record was read by software."""
        self._comparison.report(record)
