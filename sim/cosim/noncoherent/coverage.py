"""Functional coverage of the bus monitor: operations, rules, entries, and an observed bus."""

from __future__ import annotations

from collections.abc import Iterable

from racetrap.golden_model.axi import PAGE_BYTES, AxiBurst
from racetrap.golden_model.noncoherent.axi_monitor import Burst, BusCycle, range_of
from racetrap.golden_model.noncoherent.monitor import Monitor
from racetrap.golden_model.noncoherent.packets import BusOperation, MonitorStep, is_empty, rules_of
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.noncoherent.rules import Rule
from racetrap.golden_model.trace.noncoherent.operations import RANGE_KINDS, OperationKind
from racetrap.sim.cosim.comparison.coverage import BinCounts
from racetrap.sim.cosim.noncoherent.coverage_bins import (
    BINS,
    SETS,
    UNREACHABLE,
    without_bus,
    without_dirty_lines,
)

_MOST_BEATS = 256


class Coverage(BinCounts):
    """Counts of every bin.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration that runs.
    """

    def __init__(self, params: NoncoherentParams):
        bus = {} if params.observes_bus else without_bus()
        cache = without_dirty_lines() if params.write_through else {}
        super().__init__(BINS, UNREACHABLE | bus | cache)
        self._params = params
        self._last = 1 << params.address_bits

    def operations(self, operations: Iterable[BusOperation]) -> None:
        """Operations that were played."""
        for operation in operations:
            self.hit(f"operation.{OperationKind(operation.kind).name.lower()}")
            if operation.kind not in RANGE_KINDS:
                continue
            if is_empty(operation):
                self.hit("operation.empty")
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
        """Events of the entries of a monitor."""
        for name, one in monitor.sets.items():
            kind = next(kind for kind in SETS if name.startswith(kind))
            for event, count in one.events.items():
                self.hit(f"set.{kind}.{event}", count)

    def bus(self, seen: BusCycle, operations: Iterable[BusOperation]) -> None:
        """A cycle of an observed bus, and the operations derived from it."""
        for kind, burst in (("read", seen.read), ("write", seen.write)):
            if burst is not None:
                self.hit(f"bus.{kind}.{AxiBurst(burst.burst).name.lower()}")
                self._burst(burst)
        has_response = seen.read_done is not None or seen.write_done is not None
        for name, happens in (
            ("read_and_write", seen.read and seen.write),
            ("address_and_response", (seen.read or seen.write) and has_response),
            ("sync", any(operation.kind == OperationKind.SYNC for operation in operations)),
        ):
            self.hit(f"bus.{name}", int(bool(happens)))

    def _burst(self, burst: Burst) -> None:
        first, end = range_of(self._params, burst)
        is_wrap = burst.burst == AxiBurst.WRAP
        for name, happens in (
            ("one_beat", not burst.length),
            ("most_beats", burst.length == _MOST_BEATS - 1),
            ("narrow", not burst.size),
            ("unaligned", burst.address % (1 << burst.size)),
            ("page_begin", not first % PAGE_BYTES),
            ("page_end", not end % PAGE_BYTES),
            ("wrap_begin", is_wrap and burst.address == first),
            ("wrap_middle", is_wrap and burst.address != first),
            ("memory_begin", not first),
            ("memory_end", end == self._last),
        ):
            self.hit(f"bus.{name}", int(bool(happens)))
