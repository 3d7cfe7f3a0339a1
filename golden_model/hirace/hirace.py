"""HiRace: the whole detector over a list of events, in their global order.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from racetrap.golden_model.events import Event, EventKind
from racetrap.golden_model.gpu.counters import sum_counters
from racetrap.golden_model.gpu.region import Region, bank_of
from racetrap.golden_model.hirace.detector_bank import DetectorBank
from racetrap.golden_model.hirace.lane_splitter import split_lanes
from racetrap.golden_model.hirace.packets import Step, Transaction
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.hirace.report import RaceReport
from racetrap.golden_model.hirace.tracker import Tracker


class Hirace:
    """Trackers of all SMs, and all detector banks.

    Parameters
    ----------
    params : HiraceParams
        Configuration.
    region : Region
        Monitored region.

    Attributes
    ----------
    trackers, banks : list
        One tracker for each SM, and the detector banks.
    race_count : int
        Races since construction.
    unique : dict of (int, int) to RaceReport
        First race of each (PC, kind of race), in order.

    Raises
    ------
    ValueError
        If the region cannot be used with the parameters.
    """

    def __init__(self, params: HiraceParams, region: Region) -> None:
        self._params = params
        self.trackers = [Tracker(params, sm) for sm in range(params.sm_count)]
        self.banks = [DetectorBank(params, region) for _ in range(params.banks)]
        self.race_count = 0
        self.unique: dict[tuple[int, int], RaceReport] = {}

    def launch(self) -> None:
        """Start a kernel: metadata and all counts are cleared; counters of events go on."""
        for tracker in self.trackers:
            tracker.clear()
        for bank in self.banks:
            bank.clear()

    def run(self, event: Event) -> list[Step]:
        """Check one event (KERNEL_BEGIN launches); its steps.

        Raises
        ------
        ValueError
            If the event does not fit the configuration.
        """
        if event.kind == EventKind.KERNEL_BEGIN:
            self.launch()
            return []
        steps: list[Step] = []
        for transaction in split_lanes(event, self._params):
            steps += self.transact(event.sm, transaction)
        return steps

    def transact(self, sm: int, transaction: Transaction) -> list[Step]:
        """Check one transaction of an SM."""
        steps = []
        for packet in self.trackers[sm].step(transaction):
            bank = bank_of(self._params, packet.word)
            step = self.banks[bank].step(packet)
            steps.append(step)
            if step.race:
                report = RaceReport.from_step(self._params, step, bank, self.race_count)
                self.race_count += 1
                self.unique.setdefault(report.key, report)
        return steps

    @property
    def counters(self) -> dict[str, int]:
        """Counters by name, summed over banks."""
        return sum_counters(self.banks)
