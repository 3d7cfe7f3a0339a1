"""ScoRD: the whole detector over a list of events, in their global order.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from racetrap.golden_model.events import Event
from racetrap.golden_model.gpu.model import GpuModel, sum_counters
from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.golden_model.scord.access_buffer import AccessBuffer
from racetrap.golden_model.scord.coalescer import coalesce
from racetrap.golden_model.scord.detector_bank import DetectorBank
from racetrap.golden_model.scord.interleaver import banks_of
from racetrap.golden_model.scord.packets import Step, Transaction
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.tracker import Tracker


class Scord(GpuModel):
    """Access buffers and trackers of all SMs, and all detector banks.

    A dropping buffer never drops here, since nothing takes time.  A fence gives a step, and counts,
    for each bank.

    Parameters
    ----------
    params, region, keep_races
        As of ``GpuModel``.

    Attributes
    ----------
    access_buffers : list of AccessBuffer
        One for each SM.
    """

    report = RaceReport

    def parts(self, region: MonitoredRegion) -> tuple[list[Tracker], list[DetectorBank]]:
        """Trackers and banks; access buffers are made with them."""
        params: ScordParams = self._params
        self.access_buffers = [AccessBuffer(params) for _ in range(params.sm_count)]
        trackers = [Tracker(params, sm) for sm in range(params.sm_count)]
        return trackers, [DetectorBank(params, region, bank) for bank in range(params.banks)]

    def transactions(self, event: Event) -> list[Transaction]:
        """Transactions that the coalescer makes from an event."""
        return coalesce(event, self._params)

    def transact(self, sm: int, transaction: Transaction, is_full: bool = False) -> list[Step]:
        """Check one transaction of an SM, whose access buffer may be full."""
        if not self.access_buffers[sm].step(transaction, is_full):
            return []
        return [
            self.check(bank, packet)
            for packet in self.trackers[sm].step(transaction)
            for bank in banks_of(self._params, packet)
        ]

    @property
    def counters(self) -> dict[str, int]:
        """Counters by name, summed over banks and buffers."""
        return sum_counters([*self.banks, *self.access_buffers])
