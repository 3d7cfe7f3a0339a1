"""Scoreboard component of HiRace: its coverage, and the read of each step."""

from __future__ import annotations

from racetrap.golden_model.gpu.entry_locator import entry_of
from racetrap.golden_model.hirace.packets import Step, Transaction, TransactionKind
from racetrap.golden_model.hirace.tracker import Tracker
from racetrap.sim.cosim.hirace.coverage import Coverage
from racetrap.sim.cosim.hirace.scoreboard import Scoreboard
from racetrap.tb.gpu.scoreboard import GpuScoreboard


class ScoreboardComponent(GpuScoreboard):
    """Compares one kernel launch after the other with HiRace's golden model."""

    coverage_class, comparison_class = Coverage, Scoreboard

    def entry_of(self, step: Step) -> int | None:
        return entry_of(self._params, self._region, step.packet)

    def transaction(self, sm: int, transaction: Transaction, tracker: Tracker) -> None:
        if transaction.kind <= TransactionKind.ATOMIC:
            self.due += transaction.more + 1
        self.coverage.transaction(sm, transaction, tracker)
