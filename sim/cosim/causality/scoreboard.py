"""Causality's comparison of a launch: the golden model follows the order of the hardware.

* Steps of each bank come in the order of its trace port, what the collector takes in that of its
  own.  Between the two, steps come first until their cycles say otherwise.
* The collector's trace says of which bank or SM it takes something.  That is the next step of the
  bank that concerns it, or the next marker of the SM, whose steps before have all been compared.
* Rows and resumes need no port: clocks of packets and decisions on them show what they were.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from typing import Any, Protocol

from racetrap.golden_model.causality.causality import Causality
from racetrap.golden_model.causality.detector_bank import DetectorBank, Step, concerns_collector
from racetrap.golden_model.causality.entry import Entry
from racetrap.golden_model.causality.learning import Race
from racetrap.golden_model.causality.packets import (
    CollectorEvent,
    Marker,
    Packet,
    RaceKind,
    Transaction,
    TransactionKind,
)
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.report import RaceReport
from racetrap.golden_model.causality.tracker import Tracker
from racetrap.golden_model.causality.warp_row import WarpRow
from racetrap.golden_model.gpu.model import sum_counters
from racetrap.golden_model.gpu.region import Region, bank_of
from racetrap.sim.cosim.causality.sent import SentBySm
from racetrap.sim.cosim.comparison.expected import Expected
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.gpu.launch_scoreboard import LaunchObserver, LaunchScoreboard
from racetrap.sim.cosim.gpu.report_check import ReportCheck

#: All counters of banks and collector; the golden model has those that are not 0.
COUNTERS = (
    "accesses", "unmonitored", "messages_met", "messages_dropped", "tag_conflicts",
    "metadata_read_errors", "knowledge_evictions", "pending_full", "clock_wraps",
    *(f"races_{kind.name.lower()}" for kind in RaceKind if kind),
)  # fmt: skip

#: Entries whose packed form is kept.
_ENTRIES_KEPT = 1 << 16


class Observer(LaunchObserver, Protocol):
    """Interface of functional coverage to a comparison."""

    def transaction(self, sm: int, transaction: Transaction) -> None:
        """A transaction of an SM, in its order."""

    def race(self, race: Race) -> None:
        """A race that the collector has found."""

    def finish(self, counters: Mapping[str, int]) -> None:
        """The counters at the end of the launch."""


class _Golden(Causality):
    """The golden model, told what happens in the hardware's order.

    Attributes
    ----------
    rows : list of WarpRow
        Rows as a bank has them at the packet that it checks.
    fenced : list of bool
        Whether each bank knows of a ``fence.sc``.
    """

    def parts(self, region: Region) -> tuple[list[Tracker], list[DetectorBank]]:
        trackers, banks = super().parts(region)
        self.rows: list[WarpRow] = list(self.collector.rows)
        self.fenced = [False] * len(banks)
        params: Any = self._params
        return trackers, [
            DetectorBank(params, region, self.rows, partial(self.fenced.__getitem__, bank))
            for bank in range(len(banks))
        ]


class _Reports(ReportCheck):
    """The collector's races in its order, whatever banks they are of."""

    def queues(self, params: CausalityParams) -> int:
        return 1

    def queue_of(self, report: RaceReport) -> int:
        return 0

    def key_of(self, race: Race) -> tuple[int, int]:
        return race.step.packet.pc, int(race.kind)

    def report_of(self, race: Race, seen: RaceReport) -> RaceReport:
        params: Any = self._params
        bank = bank_of(params, race.step.packet.word)
        return RaceReport.from_race(params, race, bank, seen.sequence)


class Scoreboard(LaunchScoreboard):
    """Checks one kernel launch; make a new one for each.

    Parameters
    ----------
    params, region, observer
        As of ``LaunchScoreboard``.
    """

    report_class = RaceReport
    reports_class = _Reports

    def __init__(
        self, params: CausalityParams, region: Region, observer: Observer | None = None
    ) -> None:
        self.golden = _Golden(params, region, keep_races=False)
        super().__init__(
            params, region, self.golden.banks, lambda place: Expected(place, "packet"), observer
        )
        #: Of each packet that is due, its number among those of its SM, and the row of its warp;
        #: likewise by bank and SM.
        self._rows: list[list[deque[tuple[int, WarpRow]]]] = [
            [deque() for _ in range(params.sm_count)] for _ in range(params.banks)
        ]
        # An entry is compared as it is left, and again as it is found.
        self._pack = lru_cache(_ENTRIES_KEPT)(partial(Entry.pack, params=params))
        #: Of each bank, the notices that the collector has not taken, with their packets' numbers.
        self._noticed: list[deque[tuple[int, Step]]] = [deque() for _ in range(params.banks)]
        self._next, self._latest = [0] * params.sm_count, [0] * params.banks
        self._sent = [
            SentBySm(params, self.golden, sm, self._send) for sm in range(params.sm_count)
        ]

    def transaction(self, sm: int, transaction: Transaction) -> int:
        """Accept a transaction from SM ``sm``; how many steps and markers it makes."""
        if self._observer is not None:
            self._observer.transaction(sm, transaction)
        self._sent[sm].transaction(transaction)
        return int(transaction.kind not in (TransactionKind.ELSE, TransactionKind.FI))

    def _send(self, packet: Packet, row: WarpRow) -> None:
        bank, sm = bank_of(self._params, packet.word), self._params.sm_of_block(packet.block)
        self._packets[bank][sm].predict(packet)
        self._rows[bank][sm].append((self._next[sm], row))
        self._next[sm] += 1

    # What the hardware does -------------------------------------------------------------

    def _see(self, bank: int, sm: int, packet: Packet) -> None:
        expected, sent = self._packets[bank][sm], self._sent[sm]
        while not len(expected) and sent.advance():
            pass
        super()._see(bank, sm, packet)
        if not self._rows[bank][sm]:
            raise Mismatch(f"Bank {bank}, SM {sm}: no packet must come, not {packet}")
        self._latest[bank], self.golden.rows[packet.warp] = self._rows[bank][sm].popleft()

    def step(self, bank: int, step: Step, read_error: bool | None = None) -> None:
        """Compare a step; a bank learns of a ``fence.sc`` when it has been settled, and before an
        access that comes behind it."""
        fenced, packet = self.golden.fenced, step.packet
        may_know = bool(step.fenced) and self.golden.collector.has_fenced()
        fenced[bank] |= bool(packet.sc) or may_know
        super().step(bank, step, read_error)

    def _found(self, bank: int, golden: Step) -> None:
        if concerns_collector(golden, self.golden.rows[golden.packet.warp]):
            self._noticed[bank].append((self._latest[bank], golden))

    def _as_seen(self, golden: Step) -> Step:
        before, after = self._packed(golden.before), self._packed(golden.after)
        return golden._replace(before=before, after=after)  # type: ignore[arg-type]

    def told(self, kind: int, source: int) -> None:
        """Follow what the trace port of the collector tells.

        Parameters
        ----------
        kind : CollectorEvent
            What happens in the collector.
        source : int
            Bank of a notice, SM of a marker.
        """
        if kind == CollectorEvent.EPOCH:
            self._begin_epoch()
        elif kind == CollectorEvent.MARKER:
            self._take_marker(source)
        else:
            self._take_notice(source)

    def _begin_epoch(self) -> None:
        params = self._params
        states = [state for tracker in self.golden.trackers for state in tracker.warps]
        if all(state.clock < params.last_clock for state in states):
            raise Mismatch(f"Clocks must restart only when one has reached {params.last_clock}")
        if left := sum(map(len, self._noticed)):
            raise Mismatch(f"Notices that a collector without work has not taken: {left}")
        self.golden.begin_epoch()
        for sent in self._sent:
            sent.forget_rows()

    def _take_marker(self, sm: int) -> None:
        if sm >= len(self._sent):
            raise Mismatch(f"Marker must be of an SM of the GPU, not of SM {sm}")
        sent = self._sent[sm]
        while not sent.markers and sent.advance():
            pass
        if not sent.markers:
            raise Mismatch(f"SM {sm}: no marker must come")
        marker, transaction = sent.markers.popleft()
        if marker.kind not in (TransactionKind.IF, TransactionKind.WARP_BARRIER):
            self._check_passed(sm, marker)
        self._report(self.golden.settle(sm, marker, transaction))
        if marker.kind not in (TransactionKind.IF, TransactionKind.WARP_BARRIER):
            sent.go_on()

    def _check_passed(self, sm: int, marker: Marker) -> None:
        """Before a marker, the collector has taken all notices of its SM's steps."""
        for bank, noticed in enumerate(self._noticed):
            if self._packets[bank][sm].due:
                raise Mismatch(f"Bank {bank} must check all packets of SM {sm} before {marker}")
            if any(self._sm_of(step) == sm for _, step in noticed):
                raise Mismatch(f"Notices of bank {bank}, SM {sm}, must be taken before {marker}")

    def _take_notice(self, bank: int) -> None:
        if bank >= len(self._noticed) or not self._noticed[bank]:
            raise Mismatch(f"Bank {bank}: no notice must come")
        number, step = self._noticed[bank].popleft()
        sm = self._sm_of(step)
        for other, (due, noticed) in enumerate(zip(self._rows, self._noticed, strict=True)):
            is_due = bool(due[sm]) and due[sm][0][0] < number
            if is_due or any(
                earlier < number and self._sm_of(each) == sm for earlier, each in noticed
            ):
                raise Mismatch(
                    f"Bank {bank}: notice of packet {number} of SM {sm} must be taken after the "
                    f"earlier ones of bank {other}"
                )
        self._report(self.golden.collector.meet(step))

    def _sm_of(self, step: Step) -> int:
        return self._params.sm_of_block(step.packet.block)

    def _report(self, races: Iterable[Race]) -> None:
        for race in races:
            self._reports.race(0, race)
            if self._observer is not None:
                self._observer.race(race)

    # The end ----------------------------------------------------------------------------

    @property
    def counters(self) -> dict[str, int]:
        found = sum_counters([*self.banks, self.golden.collector])
        return dict.fromkeys(COUNTERS, 0) | found

    def finish(
        self,
        counters: Mapping[str, int] | None = None,
        memory: Callable[[int], int] | None = None,
        read_errors: int | None = None,
        reached: Iterable[int] | None = None,
    ) -> None:
        for sm, sent in enumerate(self._sent):
            while sent.advance():
                pass
            if len(sent):
                raise Mismatch(f"SM {sm}: {len(sent)} transactions or markers missing")
        for bank, noticed in enumerate(self._noticed):
            if noticed:
                raise Mismatch(f"Bank {bank}: {len(noticed)} notices missing, next {noticed[0][1]}")
        super().finish(counters, memory, read_errors, reached)
        if self._observer is not None:
            self._observer.finish(self.counters)

    def _packed(self, entry: Any) -> int:
        return self._pack(entry)
