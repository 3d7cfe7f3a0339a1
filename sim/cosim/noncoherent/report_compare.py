"""Comparison of a bus monitor's reports and counters with the golden model's steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from racetrap.golden_model.noncoherent.monitor import counters
from racetrap.golden_model.noncoherent.packets import BusOperation, MonitorStep
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.sim.cosim.comparison.mismatch import Mismatch, compare_counters


def compare_reports(
    params: NoncoherentParams, records: Sequence[int], operations: Iterable[BusOperation],
    steps: Sequence[MonitorStep], seen: Mapping[str, int],
) -> None:  # fmt: skip
    """Compare records, in order, and counters with all steps since the counters were cleared.

    Dropped reports are counted: exactly those must be missing.

    Raises
    ------
    Mismatch
        If something differs.
    """
    racy = [step for step in steps if step.dma.found or step.cache.found]
    reports = {"reports_written": len(records), "reports_dropped": len(racy) - len(records)}
    compare_counters(seen, counters(operations, steps) | reports)
    left = iter(racy)
    for number, record in enumerate(records):
        found = params.report_layout.unpack(record)
        if not any(_is_report(found, step) for step in left):
            raise Mismatch(f"Report {number} must be of a step that raced, in order, not {found}")


def _is_report(found: Mapping[str, Any], step: MonitorStep) -> bool:
    return all(found[name] == getattr(step, name)._asdict() for name in ("row", "dma", "cache"))
