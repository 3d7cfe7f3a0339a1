"""Scoreboard component of causality: steps of banks and what the collector tells, by cycle."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import Any

from racetrap.golden_model.causality.detector_bank import Step
from racetrap.golden_model.causality.learning import Race
from racetrap.golden_model.causality.packets import CollectorEvent, Transaction, TransactionKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.gpu.entry_locator import entry_of
from racetrap.golden_model.gpu.region import Region, bank_of
from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.sim.cosim.causality.coverage import Coverage
from racetrap.sim.cosim.causality.scoreboard import Scoreboard
from racetrap.tb.gpu.scoreboard import GpuScoreboard
from racetrap.tb.subscriber import Subscriber

#: Transactions that the collector does not learn of.
_UNTOLD = (TransactionKind.ELSE, TransactionKind.FI)


@dataclass
class _Pending:
    """A marker on its way: whether it is a fence's; how often memory had refused a read when it was
    sent, and at its SM's last step since."""

    is_fence: bool
    sent: int
    last_step: int | None = None


class _Observer:
    """Observer of a comparison: the component, which has another method ``finish``."""

    def __init__(self, component: ScoreboardComponent) -> None:
        self.step, self.transaction = component.step, component.transaction
        self.race, self.report = component.race, component.report
        self._coverage = component.coverage

    def finish(self, counters: Mapping[str, int]) -> None:
        """The counters at the end of the launch."""
        self._coverage.finish(counters)


class _Comparison(Scoreboard):
    def __init__(
        self, params: CausalityParams, region: Region, observer: ScoreboardComponent
    ) -> None:
        super().__init__(params, region, _Observer(observer))


class ScoreboardComponent(GpuScoreboard):
    """Compares one kernel launch after the other with causality's golden model.

    Monitors see the same cycle one after the other; it is compared once it is over, steps first.

    Attributes
    ----------
    told : uvm_analysis_export
        Receives what the collector tells.
    """

    coverage_class, comparison_class = Coverage, _Comparison

    def build_phase(self) -> None:
        super().build_phase()
        self.told = Subscriber("told", self, self._tell).analysis_export
        self._seen: list[tuple[int, int, int, tuple[Any, ...]]] = []
        self._number = count()

    def launch(self, region: MonitoredRegion) -> None:
        self._seen = []
        self._found: list[Race] = []
        #: Markers of each SM that the collector has not taken.
        self._pending: defaultdict[int, deque[_Pending]] = defaultdict(deque)
        super().launch(region)

    @property
    def is_settled(self) -> bool:
        """Whether every expected step and marker has been seen."""
        self._catch_up()
        return super().is_settled and not self._seen

    def finish(self, *arguments: Any) -> None:
        """Check on an idle device that nothing is left over, and something was compared."""
        self._catch_up()
        super().finish(*arguments)

    def _step(self, datum: tuple[int, Any]) -> None:
        error = self._read_error(datum[1]) if self.knows_reads else None
        self._keep(self._cycle(), 0, (*datum, error))

    def _tell(self, told: tuple[int, int]) -> None:
        self._keep(self._cycle(), 1, told)

    def _keep(self, cycle: int, order: int, datum: tuple[Any, ...]) -> None:
        self._catch_up()
        heappush(self._seen, (cycle, order, next(self._number), datum))

    def _catch_up(self) -> None:
        """Compare what was seen in cycles before this one."""
        while self._seen and self._seen[0][0] < self._cycle():
            _, is_told, _, datum = heappop(self._seen)
            if is_told:
                self._comparison.told(*datum)
                if datum[0] == CollectorEvent.MARKER:
                    self.compared += 1
                    self._settled(datum[1])
            else:
                self._comparison.step(*datum)

    @property
    def _refused(self) -> int:
        """How often memory was not ready for the read of an entry."""
        return self.coverage.counts["axi.ar.stalled"]

    def _settled(self, sm: int) -> None:
        """The collector has taken an SM's next marker: how long a fence has waited, and why."""
        pending = self._pending[sm].popleft()
        if pending.is_fence and pending.last_step is not None:
            self.coverage.hit("fence.waited")
            if pending.last_step > pending.sent:
                self.coverage.hit("fence.waited_for_memory")

    def entry_of(self, step: Step) -> int | None:
        return entry_of(self._params, self._region, step.packet)

    def reports(self, report: Any) -> list[Any]:
        return [
            report.from_race(self._params, race, bank_of(self._params, race.step.packet.word))
            for race in self._found
        ]

    # Observer of the comparison -----------------------------------------------------------

    def transaction(self, sm: int, transaction: Transaction) -> None:
        self.due += transaction.kind not in _UNTOLD
        if transaction.kind > TransactionKind.ATOMIC and transaction.kind not in _UNTOLD:
            is_fence = transaction.kind == TransactionKind.FENCE
            self._pending[sm].append(_Pending(is_fence, self._refused))
        self.coverage.transaction(sm, transaction)

    def step(self, bank: int, step: Step) -> None:
        self.compared += 1
        for pending in self._pending[self._params.sm_of_block(step.packet.block)]:
            pending.last_step = self._refused
        self.coverage.step(bank, step)

    def race(self, race: Race) -> None:
        """The collector has found a race."""
        self._found.append(race)
        self.coverage.race(race)
