"""Comparison of the race reports in the ring buffer with the golden model's races.

Ref: ScoRD (ISCA'20) Section IV-A, Table IV.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.sim.cosim.comparison.mismatch import Mismatch


class ReportCheck:
    """Each bank's races in order against the records read.

    A race without a record is legal only if the hardware counted it as dropped or suppressed.
    Since records may come before their races are known, all matching is done at the end.

    Parameters
    ----------
    params : GpuParams
        Configuration of the hardware.
    report : type
        The detector's report, built from a step or a record, with ``bank``, ``sequence`` and
        ``key``.
    """

    def __init__(self, params: GpuParams, report: Any) -> None:
        self._params, self._report = params, report
        self._races: list[deque[Any]] = [deque() for _ in range(self.queues(params))]
        self._records: list[int] = []

    def queues(self, params: Any) -> int:
        """Parts of the detector that find races: banks, each in an order of its own."""
        count: int = params.banks
        return count

    def queue_of(self, report: Any) -> int:
        """Part that has found a reported race."""
        bank: int = report.bank
        return bank

    def key_of(self, race: Any) -> tuple[int, int]:
        """Key of a race, as a report has it."""
        return race.packet.pc, int(race.race)

    def report_of(self, race: Any, seen: Any) -> Any:
        """Report that is due of a race, with the bank and number of one seen."""
        return self._report.from_step(self._params, race, seen.bank, seen.sequence)

    def race(self, queue: int, race: Any) -> None:
        """Add a race found by a part of the detector."""
        self._races[queue].append(race)

    def record(self, record: int) -> None:
        """Add a record read from the ring."""
        self._records.append(record)

    def finish(self, counters: Mapping[str, int]) -> None:
        """Match all records; the counters give the number of races that may lack one.

        Raises
        ------
        Mismatch
            At the first difference.
        """
        written, dropped = counters["reports_written"], counters["reports_dropped"]
        suppressed = counters["reports_suppressed"]
        races = sum(map(len, self._races))
        if written != len(self._records):
            raise Mismatch(f"Records in the ring must number {written}, not {len(self._records)}")
        if written + dropped + suppressed != races:
            raise Mismatch(
                f"Reports written, dropped and suppressed must sum to {races} races, "
                f"not {written} + {dropped} + {suppressed}"
            )
        missing = {self.key_of(race) for queue in self._races for race in queue}
        last = -1
        for number, record in enumerate(self._records):
            report = self._report.from_record(record)
            if report.record() != record:
                raise Mismatch(f"Report {number} reserved fields must be 0, not as in {record:#x}")
            if report.sequence <= last:
                raise Mismatch(
                    f"Report {number} sequence must exceed {last}, not {report.sequence}"
                )
            last = report.sequence
            self._match(number, report)
            missing.discard(report.key)
        if missing and not dropped:
            raise Mismatch(f"Race (pc, kind) {min(missing)} must have a report")

    def _match(self, number: int, report: Any) -> None:
        """Find the report's race in its queue, skipping races without a record."""
        place = self.queue_of(report)
        queue = self._races[place] if place < len(self._races) else deque()
        first = self.report_of(queue[0], report) if queue else "none"
        while queue:
            if report == self.report_of(queue.popleft(), report):
                return
        raise Mismatch(
            f"Report {number} must be the next race of its bank, not {report}; that is {first}"
        )
