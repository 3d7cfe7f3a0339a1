"""Reports and counters of a bus monitor beside the golden model's steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from racetrap.golden_model.noncoherent.packets import BusOperation, MonitorStep, is_empty
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.sim.cosim.comparison.mismatch import Mismatch


def compare_reports(
    params: NoncoherentParams, records: Sequence[int], operations: Iterable[BusOperation],
    steps: Sequence[MonitorStep], counters: Mapping[str, int],
) -> None:  # fmt: skip
    """Compare the records of all steps since the counters were cleared, in order, and counters.

    A report that finds no room is dropped and counted: what is missing is just that.

    Raises
    ------
    Mismatch
        If something differs.
    """
    racy = [step for step in steps if step.dma.found or step.cache.found]
    due = _counters(steps) | {
        "reports_written": len(records), "reports_dropped": len(racy) - len(records),
        "empty_operations": sum(map(is_empty, operations)),
    }  # fmt: skip
    for name, value in due.items():
        if counters[name] != value:
            raise Mismatch(f"Counter {name} must be {value}, not {counters[name]}")
    left = iter(racy)
    for number, record in enumerate(records):
        found = params.report_layout.unpack(record)
        if not any(_is_report(found, step) for step in left):
            raise Mismatch(f"Report {number} must be of a step that raced, in order, not {found}")


def _counters(steps: Sequence[MonitorStep]) -> dict[str, int]:
    """Counters of what was checked."""
    hits = [hit for step in steps for hit in (step.dma, step.cache) if hit.found]
    definite = sum(hit.definite for hit in hits)
    return {
        "rows": len(steps), "races_definite": definite, "races_possible": len(hits) - definite
    }  # fmt: skip


def _is_report(found: Mapping[str, Any], step: MonitorStep) -> bool:
    return all(found[name] == getattr(step, name)._asdict() for name in ("row", "dma", "cache"))
