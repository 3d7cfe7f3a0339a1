"""HiRace's comparison of a launch: each SM's packets, in order, are due at their banks.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from typing import Protocol

from racetrap.golden_model.gpu.region import Region, bank_of
from racetrap.golden_model.hirace.detector_bank import DetectorBank
from racetrap.golden_model.hirace.packets import Packet, Transaction
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.hirace.report import RaceReport
from racetrap.golden_model.hirace.tracker import Tracker
from racetrap.sim.cosim.comparison.expected import Expected
from racetrap.sim.cosim.gpu.launch_scoreboard import LaunchObserver, LaunchScoreboard


class Observer(LaunchObserver, Protocol):
    """Interface of functional coverage to a comparison."""

    def transaction(self, sm: int, transaction: Transaction, tracker: Tracker) -> None:
        """A transaction, and the tracker before it."""


class Scoreboard(LaunchScoreboard):
    """Checks one kernel launch; make a new one for each.

    Parameters
    ----------
    params, region, observer
        As of ``LaunchScoreboard``.
    """

    report_class = RaceReport

    def __init__(
        self, params: HiraceParams, region: Region, observer: Observer | None = None
    ) -> None:
        banks = [DetectorBank(params, region) for _ in range(params.banks)]
        super().__init__(params, region, banks, lambda place: Expected(place, "packet"), observer)
        self._trackers = [Tracker(params, sm) for sm in range(params.sm_count)]

    def transaction(self, sm: int, transaction: Transaction) -> list[Packet]:
        """Accept a transaction from SM ``sm``; its packets (returned) are now due."""
        tracker = self._trackers[sm]
        if self._observer is not None:
            self._observer.transaction(sm, transaction, tracker)
        packets = tracker.step(transaction)
        for packet in packets:
            self._packets[bank_of(self._params, packet.word)][sm].predict(packet)
        return packets
