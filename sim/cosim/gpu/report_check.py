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
        self._races: list[deque[Any]] = [deque() for _ in range(params.banks)]
        self._records: list[int] = []

    def race(self, bank: int, step: Any) -> None:
        """Add a race found by a step of ``bank``."""
        self._races[bank].append(step)

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
        missing = {(step.packet.pc, int(step.race)) for queue in self._races for step in queue}
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
        """Find the report's race in its bank, skipping races without a record."""
        queue = self._races[report.bank] if report.bank < len(self._races) else deque()
        while queue:
            step = queue.popleft()
            if report == self._report.from_step(self._params, step, report.bank, report.sequence):
                return
        raise Mismatch(f"Report {number} must be the next race of its bank, not {report}")
