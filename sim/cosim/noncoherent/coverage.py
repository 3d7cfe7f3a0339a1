"""Functional coverage of the bus monitor: operations, rules, and what happens to entries."""

from __future__ import annotations

from collections.abc import Iterable

from racetrap.golden_model.noncoherent.monitor import Monitor
from racetrap.golden_model.noncoherent.packets import BusOperation, MonitorStep, rules_of
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.noncoherent.rules import Rule
from racetrap.golden_model.trace.noncoherent.operations import RANGE_KINDS, OperationKind
from racetrap.sim.cosim.comparison.coverage import BinCounts
from racetrap.sim.cosim.noncoherent.coverage_bins import BINS, SETS, UNREACHABLE

__all__ = ["Coverage"]


class Coverage(BinCounts):
    """Counts of every bin.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration that runs.
    """

    def __init__(self, params: NoncoherentParams):
        super().__init__(BINS, UNREACHABLE)
        self._last = 1 << params.address_bits

    def operations(self, operations: Iterable[BusOperation]) -> None:
        """Operations that were played."""
        for operation in operations:
            self.hit(f"operation.{OperationKind(operation.kind).name.lower()}")
            if operation.kind not in RANGE_KINDS:
                continue
            end = operation.address + operation.size
            self.hit(f"operation.rows.{'several' if operation.rows > 1 else 'one'}")
            if not operation.address:
                self.hit("operation.first_address")
            if end == self._last:
                self.hit("operation.last_address")

    def steps(self, steps: Iterable[MonitorStep]) -> None:
        """Steps that were compared."""
        for step in steps:
            found = list(rules_of(step))
            if len(found) > 1:
                self.hit("row.both_sides")
            for rule, hit in found:
                certainty = "definite" if hit.definite else "possible"
                self.hit(f"rule.{rule.value}.{certainty}")
                self.hit(f"origin.{'several' if hit.others else 'one'}")
                if rule is Rule.TWO_ENGINES:
                    kind = OperationKind(step.row.kind).name.lower()
                    self.hit(f"engines.{kind}.{certainty}")

    def entries(self, monitor: Monitor) -> None:
        """What has happened to the entries of a monitor."""
        for name, one in monitor.sets.items():
            kind = next(kind for kind in SETS if name.startswith(kind))
            for event, count in one.events.items():
                self.hit(f"set.{kind}.{event}", count)
