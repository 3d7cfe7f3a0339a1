"""Comparison of the detector hardware with the golden model, whatever simulator drives it.

Nothing here knows a clock: a monitor hands over what it saw, in any order between ports, and
:meth:`Scoreboard.finish` demands that everything has been seen and agrees.

* Each SM's transactions go through a golden tracker, which gives the packets that each bank must
  receive from that SM, in order.
* The packets in the order of a bank's trace port go through a golden bank, and every field of
  every step is compared.  The order between SMs is the hardware's to choose.
* Race reports must be the golden races of their bank in order, and each race that is missing
  must have been counted as dropped or suppressed.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NoReturn, Protocol

from racetrap.golden_model.gpu.counters import sum_counters
from racetrap.golden_model.gpu.interleaver import bank_of
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.hirace.detector_bank import DetectorBank
from racetrap.golden_model.hirace.packets import Packet, Step, Transaction
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.hirace.report import RaceReport
from racetrap.golden_model.hirace.tracker import Tracker
from racetrap.sim.cosim.comparison.expected import Expected
from racetrap.sim.cosim.comparison.mismatch import Mismatch, compare_counters, difference
from racetrap.sim.cosim.gpu.report_check import ReportCheck

#: Metadata entry as it stands in memory, given its index.
Memory = Callable[[int], int]


class Observer(Protocol):
    """What functional coverage sees of a comparison; everything given has been compared."""

    def transaction(self, sm: int, transaction: Transaction, tracker: Tracker) -> None:
        """A transaction, and the tracker before it."""

    def step(self, bank: int, step: Step) -> None:
        """A step of a bank, in the bank's order."""

    def report(self, report: RaceReport) -> None:
        """A record read from the ring buffer."""


class Scoreboard:
    """Checks one kernel launch; make a new one for each.

    Parameters
    ----------
    params : HiraceParams
        Configuration of the hardware.
    region : Region
        Monitored region of the launch.
    observer : Observer or None
        Receiver of functional coverage.

    Attributes
    ----------
    banks : list of DetectorBank
        Golden banks, in the state of the last step compared.

    Raises
    ------
    Mismatch
        From every method, at the first difference, with one sentence that names the place.
    """

    def __init__(
        self, params: HiraceParams, region: Region, observer: Observer | None = None
    ) -> None:
        self._params, self._region, self._observer = params, region, observer
        self._trackers = [Tracker(params, sm) for sm in range(params.sm_count)]
        self.banks = [DetectorBank(params, region) for _ in range(params.banks)]
        #: Packets that each bank takes from each SM, by bank and SM.
        self._packets = [
            [Expected(f"Bank {bank}, SM {sm}", "packet") for sm in range(params.sm_count)]
            for bank in range(params.banks)
        ]
        self._reports = ReportCheck(params, RaceReport)
        self._steps = [0] * params.banks

    def transaction(self, sm: int, transaction: Transaction) -> list[Packet]:
        """A transaction was accepted from SM ``sm``; its packets (returned) are now due."""
        tracker = self._trackers[sm]
        if self._observer is not None:
            self._observer.transaction(sm, transaction, tracker)
        packets = tracker.step(transaction)
        for packet in packets:
            self._packets[bank_of(self._params, packet.word)][sm].predict(packet)
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
            the hardware's word, and ``finish(read_errors=...)`` then checks the sum.
        """
        packet = step.packet
        sm = self._params.sm_of_block(packet.block)
        if sm >= len(self._trackers):
            self._fail(bank, f"packet must be of an SM of the GPU, not of block {packet.block}")
        self._packets[bank][sm].see(packet)
        error = bool(step.read_error) if read_error is None else read_error
        golden = self.banks[bank].step(packet, error)
        if golden != step:
            self._fail(bank, difference("step", step, golden))
        self._steps[bank] += 1
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
        return sum_counters(self.banks)

    def finish(
        self,
        counters: Mapping[str, int] | None = None,
        memory: Memory | None = None,
        read_errors: int | None = None,
        reached: Iterable[int] | None = None,
    ) -> None:
        """Everything has been seen: demand that nothing is left over and the sums agree.

        Parameters
        ----------
        counters : mapping of str to int or None
            The hardware's registers by name in lower case.
        memory : callable or None
            Metadata entry by index as it stands in memory.
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
        if read_errors is not None and seen != read_errors:
            raise Mismatch(f"Steps with a read error must number {read_errors}, not {seen}")
        if memory is not None:
            self._compare_memory(memory, reached)

    def _compare_memory(self, memory: Memory, reached: Iterable[int] | None) -> None:
        written: dict[int, int] = {}
        for bank in self.banks:
            written |= bank.entries
        indices: Iterable[int] = self._region.indices(self._params)
        if reached is not None:
            indices = {*reached} | written.keys()
        for index in indices:
            golden = written.get(index, self._params.uninitialised_entry)
            if (entry := memory(index)) != golden:
                raise Mismatch(f"Metadata entry {index} must be {golden:#018x}, not {entry:#018x}")

    def _fail(self, bank: int, what: str) -> NoReturn:
        raise Mismatch(f"Bank {bank}, step {self._steps[bank]}: {what}")
