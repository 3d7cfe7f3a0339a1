"""Comparison of the detector hardware with the golden model, whatever simulator drives it.

Nothing here knows a clock: a monitor hands over what it saw, in any order between ports, and
:meth:`Scoreboard.finish` demands that everything has been seen and agrees.

* Each SM's transactions go through a golden access buffer and a golden tracker, which gives the
  packets that each bank must receive from that SM, in the order of ``ExpectedPackets``; fences must
  reach every bank.
* The packets in the order of a bank's trace port go through a golden bank, and every field of
  every step is compared.  The order between SMs is the hardware's to choose.
* Race reports must be the golden races of their bank in order, and each race that is missing
  must have been counted as dropped or suppressed.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NoReturn, Protocol

from racetrap.golden_model.gpu.counters import sum_counters
from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.golden_model.gpu.valid_table import is_written
from racetrap.golden_model.scord.access_buffer import AccessBuffer
from racetrap.golden_model.scord.detector_bank import DetectorBank
from racetrap.golden_model.scord.interleaver import banks_of
from racetrap.golden_model.scord.metadata import UNINITIALISED_ENTRY
from racetrap.golden_model.scord.packets import (
    LockState,
    Packet,
    Step,
    Transaction,
    TransactionKind,
)
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.tracker import Tracker
from racetrap.sim.cosim.comparison.mismatch import Mismatch, compare_counters, difference
from racetrap.sim.cosim.gpu.report_check import ReportCheck
from racetrap.sim.cosim.scord.expected_packets import ExpectedPackets

#: Lock table of a warp: hash and state of each lock, newest first.
Locks = list[tuple[int, LockState]]


class Observer(Protocol):
    """What functional coverage sees of a comparison; everything given has been compared."""

    def transaction(
        self, sm: int, transaction: Transaction, before: Locks, after: Locks, packets: list[Packet]
    ) -> None:
        """A transaction, the lock table of its warp before and after, the packets it gives."""

    def left_out(self, transaction: Transaction) -> None:
        """A transaction that the access buffer did not hand on."""

    def step(self, bank: int, step: Step) -> None:
        """A step of a bank, in the bank's order."""

    def report(self, report: RaceReport) -> None:
        """A record read from the ring buffer."""


class _FencesSent:
    """Fences of an SM, counted: how many an access must find behind it."""

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


class Scoreboard:
    """Checks one kernel launch; make a new one for each.

    Parameters
    ----------
    params : ScordParams
        Configuration of the hardware.
    region : MonitoredRegion
        Monitored region of the launch.
    observer : Observer or None
        Receiver of functional coverage.

    Attributes
    ----------
    banks : list of DetectorBank
        Golden banks, in the state of the last step compared.
    steps_of : list of int
        Steps compared, by bank.

    Raises
    ------
    Mismatch
        From every method, at the first difference, with one sentence that names the place.
    """

    def __init__(
        self, params: ScordParams, region: MonitoredRegion, observer: Observer | None = None
    ):
        self._params = params
        self._observer = observer
        self._buffers = [AccessBuffer(params) for _ in range(params.sm_count)]
        self._trackers = [Tracker(params, sm) for sm in range(params.sm_count)]
        self.banks = [DetectorBank(params, region, bank) for bank in range(params.banks)]
        #: Packets that each bank takes from each SM, by bank and SM.
        self._packets = [
            [ExpectedPackets(f"Bank {bank}, SM {sm}") for sm in range(params.sm_count)]
            for bank in range(params.banks)
        ]
        #: Of each SM, the fences that it has sent.
        self._fences = [_FencesSent(params) for _ in range(params.sm_count)]
        self._region = region
        self._reports = ReportCheck(params, RaceReport)
        self._sm_shift = params.slot_bits
        self.steps_of = [0] * params.banks

    def transaction(
        self, sm: int, transaction: Transaction, left_out: bool | None = None
    ) -> list[Packet]:
        """A transaction was accepted from SM ``sm``; its packets (returned) are now due.

        Parameters
        ----------
        sm : int
            SM.
        transaction : Transaction
            What it handed over.
        left_out : bool or None
            Whether the hardware says that it leaves it out; None if that is not known yet.  The
            golden buffer takes its word only for whether the buffer was full.
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
                self._packets[bank][sm].predict(packet, fences)
        return packets

    @property
    def due(self) -> list[int]:
        """Steps still to come, by bank."""
        return [sum(map(len, expected)) for expected in self._packets]

    def step(self, bank: int, step: Step, read_error: bool | None = None) -> None:
        """A step was seen on the trace port of ``bank``.

        Parameters
        ----------
        bank : int
            Bank.
        step : Step
            Payload of the trace port.
        read_error : bool or None
            Whether the metadata read of this access was answered with an error; None takes
            the hardware's word, and ``finish(read_errors=...)`` then checks the sums.
        """
        packet = step.packet
        sm = packet.block >> self._sm_shift
        if sm >= len(self._trackers):
            self._fail(bank, f"packet must be of an SM of the GPU, not of block {packet.block}")
        self._packets[bank][sm].see(packet)
        error = bool(step.read_error) if read_error is None else read_error
        golden = self.banks[bank].step(packet, error)
        if golden != step:
            self._fail(bank, difference("step", step, golden))
        self.steps_of[bank] += 1
        if step.race:
            self._reports.race(bank, golden)
        if self._observer is not None:
            self._observer.step(bank, golden)

    def report(self, record: int) -> None:
        """A 32-byte record was read from the ring buffer, as a little-endian integer."""
        self._reports.record(record)
        if self._observer is not None:
            self._observer.report(RaceReport.from_record(record))

    @property
    def counters(self) -> dict[str, int]:
        """What the hardware's event counters must show, by register name in lower case."""
        return sum_counters([*self.banks, *self._buffers])

    def finish(
        self,
        counters: Mapping[str, int] | None = None,
        memory: Callable[[int], int] | None = None,
        read_errors: int | None = None,
        reached: Iterable[int] | None = None,
    ) -> None:
        """Everything has been seen: demand that nothing is left over and the sums agree.

        Parameters
        ----------
        counters : mapping of str to int or None
            The hardware's registers by name in lower case, all of those in ``counters`` and
            ``reports_written``, ``reports_dropped``, ``reports_suppressed``.
        memory : callable or None
            Metadata entry by index as it stands in memory.  Those whose bit in a table of valid
            segments is 0 may be anything.
        read_errors : int or None
            Error responses that were given to metadata reads.
        reached : iterable of int or None
            Indices of entries that are compared besides those that the golden model has written;
            all by default.
        """
        for of_bank in self._packets:
            for expected in of_bank:
                expected.finish()
        if counters is not None:
            self._reports.finish(counters)
            compare_counters(counters, self.counters)
        seen = self.counters["metadata_read_errors"]
        # A read that fails is that of a step at least, and of each word of its segment at most.
        words = self._params.words_per_cycle
        if read_errors is not None and not read_errors <= seen <= words * read_errors:
            raise Mismatch(f"Steps with a read error must number {read_errors}, not {seen}")
        if memory is not None:
            indices: Iterable[int] = self._region.indices(self._params)
            if reached is not None:
                indices = {*reached}.union(*(bank.entries for bank in self.banks))
            self._compare_memory(memory, indices)

    def _compare_memory(self, memory: Callable[[int], int], indices: Iterable[int]) -> None:
        written: dict[int, int] = {}
        for bank in self.banks:
            written |= bank.entries
        claimed = {index // self._params.words_per_cycle for index in written}
        for index in indices:
            if not is_written(self._params, self._region, index, claimed):
                continue
            golden = written.get(index, UNINITIALISED_ENTRY)
            if memory(index) != golden:
                raise Mismatch(
                    f"Metadata entry {index} must be {golden:#018x}, not {memory(index):#018x}"
                )

    def _fail(self, bank: int, what: str) -> NoReturn:
        raise Mismatch(f"Bank {bank}, step {self.steps_of[bank]}: {what}")
