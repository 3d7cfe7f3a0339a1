"""The golden model in the hardware's place: what its trace ports would tell of a launch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from racetrap.golden_model.causality.causality import Causality
from racetrap.golden_model.causality.detector_bank import Step, concerns_collector
from racetrap.golden_model.causality.packets import CollectorEvent, Transaction, TransactionKind
from racetrap.golden_model.gpu.region import bank_of
from racetrap.sim.cosim.causality.scoreboard import COUNTERS, Scoreboard

#: A step and its bank, or what the collector tells and of whom.
Observation = tuple[int | CollectorEvent, Any]


class RecordedLaunch(Causality):
    """Plays transactions in the given order, each when all before it are done.

    Attributes
    ----------
    seen : list of Observation
        What trace ports tell, in order.
    records : list of RaceReport
        The report ring.
    read_errors : set of int
        Numbers of accesses whose read fails.
    """

    def __init__(self, params, region, read_errors=()):
        self.seen: list[Observation] = []
        self.records: list[Any] = []
        self.read_errors, self._accesses = set(read_errors), 0
        super().__init__(params, region)
        self.launch()

    def play(self, transactions: Iterable[tuple[int, Transaction]]) -> None:
        """Play transactions, given with their SM."""
        for sm, transaction in transactions:
            self.transact(sm, transaction)

    def transact(self, sm: int, transaction: Transaction) -> list[Step]:
        if transaction.kind > TransactionKind.ATOMIC:
            steps = super().transact(sm, transaction)
            if transaction.kind not in (TransactionKind.ELSE, TransactionKind.FI):
                self.seen.append((CollectorEvent.MARKER, sm))
            return steps
        packet = self.trackers[sm].packet(transaction)
        bank = bank_of(self._params, packet.word)
        step = self.banks[bank].step(packet, self._accesses in self.read_errors)
        self._accesses += 1
        packed = {name: getattr(step, name).pack(self._params) for name in ("before", "after")}
        self.seen.append((bank, step._replace(**packed)))
        if concerns_collector(step, self.collector.rows[packet.warp]):
            self.seen.append((CollectorEvent.NOTICE, bank))
            self._report(self.collector.meet(step))
        return [step]

    def begin_epoch(self) -> None:
        self.seen.append((CollectorEvent.EPOCH, 0))
        super().begin_epoch()

    def keep_report(self, report: Any) -> None:
        super().keep_report(report)
        self.records.append(report)

    def totals(self, **changes: int) -> dict[str, int]:
        """Counters as registers have them."""
        written = {"reports_written": len(self.records), "reports_dropped": 0}
        return (
            dict.fromkeys(COUNTERS, 0) | self.counters | written | {"reports_suppressed": 0}
            | changes
        )  # fmt: skip

    def entry(self, index: int) -> int:
        """Entry in memory."""
        for bank in self.banks:
            if index in bank.entries:
                packed: int = bank.entries[index].pack(self._params)
                return packed
        return 0


def tell(board: Scoreboard, seen: Iterable[Observation]) -> None:
    """Tell a scoreboard what trace ports have told."""
    for kind, what in seen:
        if isinstance(kind, CollectorEvent):
            board.told(kind, what)
        else:
            board.step(kind, what)
