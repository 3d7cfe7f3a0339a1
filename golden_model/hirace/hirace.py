"""HiRace: the whole detector over a list of events, in their global order.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from racetrap.golden_model.events import Event
from racetrap.golden_model.gpu.model import GpuModel
from racetrap.golden_model.gpu.region import Region, bank_of
from racetrap.golden_model.hirace.detector_bank import DetectorBank
from racetrap.golden_model.hirace.lane_splitter import split_lanes
from racetrap.golden_model.hirace.packets import Step, Transaction
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.hirace.report import RaceReport
from racetrap.golden_model.hirace.tracker import Tracker


class Hirace(GpuModel):
    """Trackers of all SMs, and all detector banks."""

    report = RaceReport

    def parts(self, region: Region) -> tuple[list[Tracker], list[DetectorBank]]:
        params: HiraceParams = self._params
        trackers = [Tracker(params, sm) for sm in range(params.sm_count)]
        return trackers, [DetectorBank(params, region) for _ in range(params.banks)]

    def transactions(self, event: Event) -> list[Transaction]:
        return split_lanes(event, self._params)

    def transact(self, sm: int, transaction: Transaction) -> list[Step]:
        return [
            self.check(bank_of(self._params, packet.word), packet)
            for packet in self.trackers[sm].step(transaction)
        ]
