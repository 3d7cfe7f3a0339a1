"""Base of golden models of whole GPU detectors: launches, reports, sums of counters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, ClassVar, Protocol

from racetrap.golden_model.events import Event, EventKind

#: For each register's name in lower case, whether a step counts; its fields may be arrays.
Counters = Mapping[str, Callable[[Any], Any]]


class Counting(Protocol):
    """A part of a detector with counters of its own."""

    @property
    def counters(self) -> Mapping[str, int]:
        """Counters by the register's name in lower case."""


def has(field: str, value: int) -> Callable[[Any], Any]:
    """Whether a field of a step has a value."""
    return lambda step: getattr(step, field) == value


def one_for_each(kinds: type[IntEnum], field: str, prefix: str) -> Counters:
    """A counter for each non-zero kind that a field of a step can have."""
    return {f"{prefix}_{kind.name.lower()}": has(field, kind) for kind in kinds if kind}


def totals(counters: Counters, steps: Mapping[Any, int]) -> dict[str, int]:
    """Counters by name, from the number of occurrences of each step."""
    return {
        name: sum(times for step, times in steps.items() if counts(step))
        for name, counts in counters.items()
    }


def sum_counters(parts: Iterable[Counting]) -> dict[str, int]:
    """Counters of an instance by name, each the sum over all parts that have it."""
    sums: Counter[str] = Counter()
    for part in parts:
        sums.update(part.counters)
    return dict(sums)


class GpuModel(ABC):
    """A detector over a list of events, in their global order.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    region : MonitoredRegion
        Monitored region.
    keep_races : bool
        Whether ``races`` keeps every report, not only ``unique`` the first of each key.

    Attributes
    ----------
    report : type
        The detector's reports.
    keep_races : bool
        As given.
    trackers, banks : sequence
        One tracker for each SM, and the detector banks.
    races : list
        Every report since construction, in order; empty unless they are kept.
    race_count : int
        Number of races.
    unique : dict of (int, int) to report
        First race of each (PC, kind of race), in order.

    Raises
    ------
    ValueError
        If the region cannot be used with the parameters.
    """

    report: ClassVar[Any]

    def __init__(self, params: Any, region: Any, keep_races: bool = True) -> None:
        region.check(params)
        self._params, self.keep_races = params, keep_races
        self.trackers, self.banks = self.parts(region)
        self.races: list[Any] = []
        self.race_count = 0
        self.unique: dict[tuple[int, int], Any] = {}

    def launch(self) -> None:
        """Start a kernel: clear metadata and the state of trackers and banks.

        Counters, the lists of races and their numbering continue.
        """
        for part in (*self.trackers, *self.banks):
            part.clear()

    def run(self, event: Event) -> list[Any]:
        """Check one event (KERNEL_BEGIN launches); its steps of all banks.

        Raises
        ------
        ValueError
            If the event does not fit the configuration.
        """
        if event.kind == EventKind.KERNEL_BEGIN:
            self.launch()
            return []
        steps: list[Any] = []
        for transaction in self.transactions(event):
            steps += self.transact(event.sm, transaction)
        return steps

    @abstractmethod
    def parts(self, region: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        """Trackers, banks and other parts of the detector."""

    @abstractmethod
    def transactions(self, event: Event) -> list[Any]:
        """Transactions of an event for the tracker of its SM."""

    @abstractmethod
    def transact(self, sm: int, transaction: Any) -> list[Any]:
        """Check one transaction of an SM."""

    def check(self, bank: int, packet: Any) -> Any:
        """Step of a bank with a packet, and its report if it is a race."""
        step = self.banks[bank].step(packet)
        if step.race:
            self.keep_report(self.report.from_step(self._params, step, bank, self.race_count))
        return step

    def keep_report(self, report: Any) -> None:
        """Count a race, and keep it if reports are kept or it is the first of its key."""
        self.race_count += 1
        if self.keep_races:
            self.races.append(report)
        self.unique.setdefault(report.key, report)

    @property
    def counters(self) -> dict[str, int]:
        """Counters by name, summed over banks."""
        return sum_counters(self.banks)


class GpuDetectorBank:
    """Metadata entries of a bank, and how often it has made each step.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    region : MonitoredRegion
        Monitored region.

    Attributes
    ----------
    entries : dict of int to int
        Metadata entries by index within the region; an absent one is uninitialised.

    Raises
    ------
    ValueError
        If the region cannot be used with the parameters.
    """

    #: Fields of a step that counters use, a named tuple, and the counters.
    counted: ClassVar[Any]
    counter_table: ClassVar[Counters]

    def __init__(self, params: Any, region: Any) -> None:
        region.check(params)
        self.entries: dict[int, int] = {}
        self._params, self._region = params, region
        self._counted: dict[tuple[int, ...], int] = defaultdict(int)  # by ``counted``

    def clear(self) -> None:
        """Make metadata uninitialised, as at launch; counters stay."""
        self.entries.clear()

    @property
    def counters(self) -> dict[str, int]:
        """Counters by name since construction (``accesses`` are those checked)."""
        steps = {self.counted(*step): times for step, times in self._counted.items()}
        return totals(self.counter_table, steps)
