"""What golden models of whole GPU detectors share: launches, reports, sums of counters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from racetrap.golden_model.events import Event, EventKind
from racetrap.golden_model.gpu.counters import sum_counters


class GpuModel(ABC):
    """A detector over a list of events, in their global order.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    trackers, banks : sequence
        One tracker for each SM, and the detector banks.
    report : type
        The detector's reports.
    keep_races : bool
        Whether ``races`` keeps every report, not only ``unique`` the first of each key.

    Attributes
    ----------
    trackers, banks
        As given.
    races : list
        Every report since construction, in order; empty unless they are kept.
    race_count : int
        How many races there were.
    unique : dict of (int, int) to report
        First race of each (PC, kind of race), in order.
    """

    def __init__(
        self, params: Any, trackers: Sequence[Any], banks: Sequence[Any], report: Any,
        keep_races: bool,
    ) -> None:  # fmt: skip
        self._params, self._report, self._keep_races = params, report, keep_races
        self.trackers, self.banks = trackers, banks
        self.races: list[Any] = []
        self.race_count = 0
        self.unique: dict[tuple[int, int], Any] = {}

    def launch(self) -> None:
        """Start a kernel: metadata and all that trackers and banks hold are cleared.

        Counters, the lists of races and their numbering go on.
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
    def transactions(self, event: Event) -> list[Any]:
        """What an event is to the tracker of its SM."""

    @abstractmethod
    def transact(self, sm: int, transaction: Any) -> list[Any]:
        """Check one transaction of an SM."""

    def check(self, bank: int, packet: Any) -> Any:
        """Step of a bank with a packet, and its report if it is a race."""
        step = self.banks[bank].step(packet)
        if step.race:
            report = self._report.from_step(self._params, step, bank, self.race_count)
            self.race_count += 1
            if self._keep_races:
                self.races.append(report)
            self.unique.setdefault(report.key, report)
        return step

    @property
    def counters(self) -> dict[str, int]:
        """Counters by name, summed over banks."""
        return sum_counters(self.banks)
