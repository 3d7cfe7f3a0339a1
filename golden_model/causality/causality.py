"""Causality: the whole detector over a list of events, in their global order.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section VI.
"""

from __future__ import annotations

from typing import Any

from racetrap.golden_model.causality.collector import Collector
from racetrap.golden_model.causality.detector_bank import DetectorBank, Step
from racetrap.golden_model.causality.learning import Race
from racetrap.golden_model.causality.packets import (
    Marker,
    PacketKind,
    Transaction,
    TransactionKind,
)
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.report import RaceReport
from racetrap.golden_model.causality.tracker import Tracker
from racetrap.golden_model.causality.word_splitter import split_words
from racetrap.golden_model.events import Event
from racetrap.golden_model.gpu.model import GpuModel, sum_counters
from racetrap.golden_model.gpu.region import Region, bank_of


class Causality(GpuModel):
    """Trackers of all SMs, detector banks and the collector.

    Attributes
    ----------
    collector : Collector
        Rows and tables of all warps.
    found : list of Race
        Races that the collector has reported in the last event.
    """

    report = RaceReport

    def parts(self, region: Region) -> tuple[list[Tracker], list[DetectorBank]]:
        """Trackers and banks; the collector is made with them."""
        params: CausalityParams = self._params
        self.collector = Collector(params)
        self.found: list[Race] = []
        trackers = [Tracker(params, sm) for sm in range(params.sm_count)]
        banks = [
            DetectorBank(params, region, self.collector.rows, self.collector.has_fenced)
            for _ in range(params.banks)
        ]
        return trackers, banks

    def launch(self) -> None:
        """Start a kernel: metadata and all that trackers, banks and collector hold are cleared."""
        super().launch()
        self.collector.clear()

    def run(self, event: Event) -> list[Step]:
        """Check one event (KERNEL_BEGIN launches); its steps of all banks."""
        self.found = []
        return super().run(event)

    def transactions(self, event: Event) -> list[Transaction]:
        """What the word splitter makes of an event."""
        return split_words(event, self._params)

    def transact(self, sm: int, transaction: Transaction) -> list[Step]:
        """Check one transaction of an SM."""
        tracker = self.trackers[sm]
        if transaction.kind <= TransactionKind.ATOMIC:
            packet = tracker.packet(transaction)
            step: Step = self.banks[bank_of(self._params, packet.word)].step(packet)
            self._report(self.collector.meet(step))
            return [step]
        self._wrap_clocks()
        marker = tracker.marker(transaction)
        if transaction.kind >= TransactionKind.IF:
            self.change_row(sm, transaction)
        self._report(self.settle(sm, marker, transaction))
        return []

    def _report(self, races: list[Race]) -> None:
        for race in races:
            bank = bank_of(self._params, race.step.packet.word)
            self.keep_report(RaceReport.from_race(self._params, race, bank, self.race_count))
        self.found += races

    def change_row(self, sm: int, transaction: Transaction) -> None:
        """A branch or a warp barrier, of the warp alone: it goes on at once."""
        kind, state = transaction.kind, self.trackers[sm].warps[transaction.warp]
        state.clock += kind in (TransactionKind.IF, TransactionKind.WARP_BARRIER)
        row = self.collector.rows[self._params.warp_id(sm, transaction.warp)]
        of_packet = PacketKind(kind + PacketKind.IF - TransactionKind.IF)
        row.change(of_packet, transaction.lanes, state.clock)

    def settle(self, sm: int, marker: Marker, transaction: Transaction) -> list[Race]:
        """Let the collector settle a marker, and the warps concerned go on with their clocks."""
        collector, tracker, kind = self.collector, self.trackers[sm], transaction.kind
        races: list[Race] = []
        if kind == TransactionKind.BLOCK_START:
            self._start_block(tracker, transaction.slot, marker)
        elif kind == TransactionKind.BLOCK_END:
            races = collector.end_block(marker.block)
        elif kind == TransactionKind.BARRIER:
            collector.barrier(marker.block)
            self._go_on(*collector.warps_of(marker.block))
        elif kind == TransactionKind.PARTIAL_BARRIER:
            collector.partial_barrier(marker)
            self._go_on(*collector.warps_of(marker.block))
        elif kind in (TransactionKind.IF, TransactionKind.WARP_BARRIER):
            collector.advance(marker)
        elif kind not in (TransactionKind.ELSE, TransactionKind.FI):
            races = self._settle_warp(tracker, marker, transaction)
            self._go_on(marker.warp)
        return races

    def _settle_warp(
        self, tracker: Tracker, marker: Marker, transaction: Transaction
    ) -> list[Race]:
        """Settle a marker of one warp that waits for it."""
        collector, kind = self.collector, transaction.kind
        if kind in (TransactionKind.FENCE, TransactionKind.BEGIN):
            tracker.pass_fence(transaction)
        if kind == TransactionKind.FENCE:
            return collector.fence(marker)
        if kind == TransactionKind.BEGIN:
            collector.begin_release(marker)
        elif kind == TransactionKind.END:
            collector.end_operation(marker)
        else:
            collector.arrive(marker)
        return []

    def _go_on(self, *warps: int) -> None:
        """Warps go on with what the collector has made of their clocks and fences."""
        for warp in warps:
            state, carried = self._state(warp), self.collector.carried[warp]
            state.clock, state.sc = carried.clock, carried.sc

    def _state(self, warp: int) -> Any:
        sm, slot = divmod(warp, 1 << self._params.warp_bits)
        return self.trackers[sm].warps[slot]

    def _start_block(self, tracker: Tracker, slot: int, marker: Marker) -> None:
        sm = self._params.sm_of_block(marker.block)
        # There may be more warp slots than a warp has lanes.
        slots = [warp for warp in range(self._params.warps_per_sm) if marker.warps >> warp & 1]
        warps = [self._params.warp_id(sm, warp) for warp in slots]
        self.collector.start_block(marker.block, warps, tracker.begin_block(slot, slots))

    def _wrap_clocks(self) -> None:
        """Take all accesses as ordered before a clock could wrap."""
        if self.collector.latest >= self._params.last_clock:
            self.begin_epoch()

    def begin_epoch(self) -> None:
        """Take all accesses so far as ordered; clocks restart."""
        self.collector.begin_epoch()
        for bank in self.banks:
            bank.begin_epoch()
        for tracker in self.trackers:
            for state in tracker.warps:
                state.clock = 1

    @property
    def counters(self) -> dict[str, int]:
        """Counters by name, summed over banks and collector."""
        return sum_counters([*self.banks, self.collector])
