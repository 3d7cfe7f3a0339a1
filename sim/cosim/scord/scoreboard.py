"""ScoRD's comparison of a launch: access buffers and trackers before it, fences to every bank.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from typing import Protocol

from racetrap.golden_model.gpu.model import sum_counters
from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.golden_model.scord.access_buffer import AccessBuffer
from racetrap.golden_model.scord.detector_bank import DetectorBank
from racetrap.golden_model.scord.interleaver import banks_of
from racetrap.golden_model.scord.packets import LockState, Packet, Transaction, TransactionKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.tracker import Tracker
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.gpu.launch_scoreboard import LaunchObserver, LaunchScoreboard
from racetrap.sim.cosim.gpu.tile_places import TilePlaces
from racetrap.sim.cosim.scord.expected_packets import ExpectedPackets

#: Lock table of a warp: hash and state of each lock, newest first.
Locks = list[tuple[int, LockState]]


class Observer(LaunchObserver, Protocol):
    """Interface of functional coverage to a comparison."""

    def transaction(
        self, sm: int, transaction: Transaction, before: Locks, after: Locks, packets: list[Packet]
    ) -> None:
        """A transaction, the lock table of its warp before and after, and its packets."""

    def left_out(self, transaction: Transaction) -> None:
        """A transaction that the access buffer skipped."""


class _FencesSent:
    """Counts fences of an SM: the number that must precede each access."""

    def __init__(self, params: ScordParams) -> None:
        self._sent = 0
        self._of_warp = [0] * params.warps_per_sm
        self._of_block = [0] * params.blocks_per_sm
        self._at_barrier = [0] * params.blocks_per_sm

    def before(self, transaction: Transaction) -> int:
        """Fences of the SM up to the last that must be before a transaction's accesses."""
        warp, slot = transaction.warp, transaction.slot
        if transaction.kind == TransactionKind.FENCE:
            self._sent += 1
            self._of_warp[warp] = self._of_block[slot] = self._sent
        elif transaction.kind == TransactionKind.BARRIER:
            self._at_barrier[slot] = self._of_block[slot]
        return max(self._of_warp[warp], self._at_barrier[slot])


class Scoreboard(LaunchScoreboard):
    """Checks one kernel launch; make a new one for each.

    Parameters
    ----------
    params, region, observer
        As of ``LaunchScoreboard``.
    places : TilePlaces or None
        Tiles that are there; None: all.
    """

    report_class = RaceReport

    def __init__(
        self, params: ScordParams, region: MonitoredRegion, observer: Observer | None = None,
        places: TilePlaces | None = None,
    ) -> None:  # fmt: skip
        banks = [DetectorBank(params, region, bank) for bank in range(params.banks)]
        super().__init__(params, region, banks, ExpectedPackets, observer)
        self._there = range(params.banks) if places is None else places.banks
        self._buffers = [AccessBuffer(params) for _ in range(params.sm_count)]
        self._trackers = [Tracker(params, sm) for sm in range(params.sm_count)]
        #: For each SM, the fences that it has sent.
        self._fences = [_FencesSent(params) for _ in range(params.sm_count)]

    def transaction(
        self, sm: int, transaction: Transaction, left_out: bool | None = None
    ) -> list[Packet]:
        """Accept a transaction from SM ``sm``; its packets (returned) are now due.

        Parameters
        ----------
        sm : int
            SM.
        transaction : Transaction
            The transaction.
        left_out : bool or None
            Whether the hardware skips it; None if unknown yet.  The golden buffer relies on it only
            for whether the buffer was full.
        """
        handed_on = self._buffers[sm].step(transaction, bool(left_out))
        if left_out is not None and handed_on == left_out:
            must = "be handed on" if handed_on else "be left out"
            raise Mismatch(f"SM {sm}: {transaction} must {must}")
        if not handed_on:
            if self._observer is not None:
                self._observer.left_out(transaction)
            return []
        tracker = self._trackers[sm]
        if self._observer is None:
            packets = tracker.step(transaction)
        else:
            before = list(tracker.lock_tables[transaction.warp].entries)
            packets = tracker.step(transaction)
            after = list(tracker.lock_tables[transaction.warp].entries)
            self._observer.transaction(sm, transaction, before, after, packets)
        fences = self._fences[sm].before(transaction)
        for packet in packets:
            for bank in banks_of(self._params, packet):
                if bank in self._there:
                    self._packets[bank][sm].predict(packet, fences)
        return packets

    @property
    def counters(self) -> dict[str, int]:
        """Expected event counters of the hardware, by register name in lower case."""
        return sum_counters([*self.banks, *self._buffers])
