"""ScoRD: the whole detector over a list of events, in their global order.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from racetrap.golden_model.events import Event, EventKind
from racetrap.golden_model.gpu.counters import sum_counters
from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.golden_model.scord.access_buffer import AccessBuffer
from racetrap.golden_model.scord.coalescer import coalesce
from racetrap.golden_model.scord.detector_bank import DetectorBank
from racetrap.golden_model.scord.interleaver import banks_of
from racetrap.golden_model.scord.packets import Packet, Step, Transaction
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.tracker import Tracker


class Scord:
    """Access buffers and trackers of all SMs, and all detector banks.

    A buffer that drops has room for everything here, since nothing takes time.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    region : MonitoredRegion
        Monitored region.
    keep_races : bool
        Whether ``races`` keeps every report, not only ``unique`` the first of each key.

    Attributes
    ----------
    access_buffers, trackers, banks : list
        One buffer and one tracker for each SM, and the detector banks.
    races : list of RaceReport
        Every race since construction, in order; empty unless they are kept.
    race_count : int
        How many there were.
    unique : dict of (int, int) to RaceReport
        First race of each (PC, kind of race), in order.
    Raises
    ------
    ValueError
        If the region cannot be used with the parameters.
    """

    def __init__(
        self, params: ScordParams, region: MonitoredRegion, keep_races: bool = True
    ) -> None:
        self._params, self._keep_races = params, keep_races
        self.access_buffers = [AccessBuffer(params) for _ in range(params.sm_count)]
        self.trackers = [Tracker(params, sm) for sm in range(params.sm_count)]
        self.banks = [DetectorBank(params, region, bank) for bank in range(params.banks)]
        self.races: list[RaceReport] = []
        self.race_count = 0
        self.unique: dict[tuple[int, int], RaceReport] = {}

    def launch(self) -> None:
        """Start a kernel: metadata, fence files, lock tables and barrier ids are cleared.

        Counters, the lists of races and their numbering go on.
        """
        for tracker in self.trackers:
            tracker.clear()
        for bank in self.banks:
            bank.clear()

    def run(self, event: Event) -> list[Step]:
        """Check one event (KERNEL_BEGIN launches).

        Returns
        -------
        list of Step
            Steps of all banks; a fence gives one for each bank.

        Raises
        ------
        ValueError
            If the event does not fit the configuration.
        """
        if event.kind == EventKind.KERNEL_BEGIN:
            self.launch()
            return []
        steps: list[Step] = []
        for transaction in coalesce(event, self._params):
            steps += self.transact(event.sm, transaction)
        return steps

    def transact(self, sm: int, transaction: Transaction, is_full: bool = False) -> list[Step]:
        """Check one transaction of an SM, whose access buffer may be full."""
        steps: list[Step] = []
        if not self.access_buffers[sm].step(transaction, is_full):
            return steps
        for packet in self.trackers[sm].step(transaction):
            steps += self._check(packet)
        return steps

    @property
    def counters(self) -> dict[str, int]:
        """Counters by name, summed over banks and buffers (a fence counts once for each bank)."""
        return sum_counters([*self.banks, *self.access_buffers])

    def _check(self, packet: Packet) -> list[Step]:
        steps = []
        for bank in banks_of(self._params, packet):
            step = self.banks[bank].step(packet)
            steps.append(step)
            if step.race:
                report = RaceReport.from_step(self._params, step, bank, sequence=self.race_count)
                self.race_count += 1
                if self._keep_races:
                    self.races.append(report)
                self.unique.setdefault(report.key, report)
        return steps
