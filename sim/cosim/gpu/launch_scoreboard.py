"""Comparison of a launch on a GPU detector's hardware with its golden model.

It is untimed: a monitor passes observations, in any order between ports, and
:meth:`LaunchScoreboard.finish` checks that they are complete and agree.

* Each SM's transactions go through golden trackers, which give the packets that each bank must
  receive from that SM.
* The packets in the order of a bank's trace port go through a golden bank, and every field of
  every step is compared.  The order between SMs is unspecified.
* Race reports must be the golden races of their bank in order, and each race that is missing
  must have been counted as dropped or suppressed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn, Protocol

from racetrap.golden_model.gpu.model import sum_counters
from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.golden_model.gpu.valid_table import is_written
from racetrap.sim.cosim.comparison.mismatch import Mismatch, compare_counters, difference
from racetrap.sim.cosim.gpu.report_check import ReportCheck


class LaunchObserver(Protocol):
    """Interface of functional coverage to a comparison; everything passed has been compared."""

    def step(self, bank: int, step: Any) -> None:
        """A step of a bank, in the bank's order."""

    def report(self, report: Any) -> None:
        """A record read from the ring buffer."""


class LaunchScoreboard:
    """Checks one kernel launch; make a new one for each.

    A detector's subclass derives the expected packets from transactions.

    Parameters
    ----------
    params : GpuParams
        Configuration of the hardware.
    region : MonitoredRegion
        Monitored region of the launch.
    banks : sequence
        Golden banks.
    expected : callable
        Makes the empty sequence of a bank's expected packets from an SM, given its name.
    observer : LaunchObserver or None
        Receiver of functional coverage.

    Attributes
    ----------
    banks : list
        Golden banks, in the state of the last step compared.
    steps_of : list of int
        Steps compared, by bank.
    report_class : type
        The detector's reports.
    reports_class : type of ReportCheck
        Their comparison.

    Raises
    ------
    Mismatch
        From every method, at the first difference, with one sentence that names the place.
    """

    report_class: ClassVar[Any]
    reports_class: ClassVar[type[ReportCheck]] = ReportCheck

    def __init__(
        self, params: Any, region: MonitoredRegion, banks: Sequence[Any],
        expected: Callable[[str], Any], observer: LaunchObserver | None,
    ) -> None:  # fmt: skip
        self._params, self._region = params, region
        self._observer: Any = observer
        self.banks = list(banks)
        #: Expected packets from each SM, by bank and SM.
        self._packets = [
            [expected(f"Bank {bank}, SM {sm}") for sm in range(params.sm_count)]
            for bank in range(params.banks)
        ]
        self._reports = self.reports_class(params, self.report_class)
        self.steps_of = [0] * params.banks

    @property
    def due(self) -> list[int]:
        """Steps still to come, by bank."""
        return [sum(map(len, expected)) for expected in self._packets]

    def step(self, bank: int, step: Any, read_error: bool | None = None) -> None:
        """Compare a step seen on the trace port of ``bank``.

        Parameters
        ----------
        bank : int
            Bank.
        step : Step
            Payload of the trace port.
        read_error : bool or None
            Whether the metadata read of this access was answered with an error; None accepts the
            hardware's flag, and ``finish(read_errors=...)`` then checks the sums.
        """
        packet = step.packet
        sm = self._params.sm_of_block(packet.block)
        if sm >= self._params.sm_count:
            self._fail(bank, f"packet must be of an SM of the GPU, not of block {packet.block}")
        self._see(bank, sm, packet)
        error = bool(step.read_error) if read_error is None else read_error
        golden = self.banks[bank].step(packet, error)
        if (due := self._as_seen(golden)) != step:
            self._fail(bank, difference("step", step, due))
        self.steps_of[bank] += 1
        self._found(bank, golden)
        if self._observer is not None:
            self._observer.step(bank, golden)

    def _see(self, bank: int, sm: int, packet: Any) -> None:
        """Compare the packet of a step with those that are due."""
        self._packets[bank][sm].see(packet)

    def _as_seen(self, golden: Any) -> Any:
        """A golden step as on the trace port."""
        return golden

    def _found(self, bank: int, golden: Any) -> None:
        """Follow a golden step that the hardware has made."""
        if golden.race:
            self._reports.race(bank, golden)

    def _packed(self, entry: Any) -> int:
        """A golden entry as in memory."""
        packed: int = entry
        return packed

    def report(self, record: int) -> None:
        """Add a 32-byte record read from the ring buffer, as a little-endian integer."""
        self._reports.record(record)
        if self._observer is not None:
            self._observer.report(self.report_class.from_record(record))

    @property
    def counters(self) -> dict[str, int]:
        """Expected event counters of the hardware, by register name in lower case."""
        return sum_counters(self.banks)

    def finish(
        self,
        counters: Mapping[str, int] | None = None,
        memory: Callable[[int], int] | None = None,
        read_errors: int | None = None,
        reached: Iterable[int] | None = None,
    ) -> None:
        """End of the launch: check that nothing is left over and the sums agree.

        Parameters
        ----------
        counters : mapping of str to int or None
            The hardware's registers by name in lower case, all of those in ``counters`` and
            ``reports_written``, ``reports_dropped``, ``reports_suppressed``.
        memory : callable or None
            Metadata entry in memory by index.  Those whose bit in a table of valid segments is 0
            are undefined.
        read_errors : int or None
            Error responses to metadata reads.
        reached : iterable of int or None
            Indices of entries to compare besides those written by the golden model; all by default.
        """
        for of_bank in self._packets:
            for expected in of_bank:
                expected.finish()
        if counters is not None:
            self._reports.finish(counters)
            compare_counters(counters, self.counters)
        seen = self.counters["metadata_read_errors"]
        # A failed read belongs to at least one step, and at most to each word of its segment.
        words = self._params.words_per_cycle
        if read_errors is not None and not read_errors <= seen <= words * read_errors:
            raise Mismatch(f"Steps with a read error must number {read_errors}, not {seen}")
        if memory is not None:
            self._compare_memory(memory, reached)

    def _compare_memory(self, memory: Callable[[int], int], reached: Iterable[int] | None) -> None:
        params = self._params
        written: dict[int, Any] = {}
        for bank in self.banks:
            written |= bank.entries
        claimed = {index // params.words_per_cycle for index in written}
        indices: Iterable[int] = self._region.indices(params)
        if reached is not None:
            indices = {*reached} | written.keys()
        for index in indices:
            if not is_written(params, self._region, index, claimed):
                continue
            golden = params.uninitialised_entry
            if index in written:
                golden = self._packed(written[index])
            if (entry := memory(index)) != golden:
                raise Mismatch(f"Metadata entry {index} must be {golden:#018x}, not {entry:#018x}")

    def _fail(self, bank: int, what: str) -> NoReturn:
        raise Mismatch(f"Bank {bank}, step {self.steps_of[bank]}: {what}")
