"""A GPU's trace on a board, and its reports against the golden model's.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from racetrap.fpga.gpu.board import GpuBoard
from racetrap.fpga.host.client import reached
from racetrap.golden_model.events import Event, EventKind
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.gpu.report import RingReport


@dataclass(frozen=True)
class BoardRun:
    """Result of a trace on a board.

    Parameters
    ----------
    reports : tuple of RingReport
        Reports, in the order in which they came.
    counters : dict of str to int
        The device's counters by name, summed over the launches of the trace; ``reports_dropped`` is
        always included.
    transactions : int
        Transactions pushed.
    seconds : float
        Total time.
    """

    reports: tuple[Any, ...]
    counters: dict[str, int]
    transactions: int
    seconds: float


def run_trace(board: GpuBoard, region: Region, events: Iterable[Event]) -> BoardRun:
    """Stream the events of a valid trace to a board.

    Parameters
    ----------
    board : GpuBoard
        The detector's board.
    region : Region
        Monitored region.
    events : iterable of Event
        The trace; each of its kernels is launched.

    Raises
    ------
    LinkError
        If the device fails; the error says how far it came.
    """
    started = time.monotonic()
    reports: list[Any] = []
    counters: Counter[str] = Counter(reports_dropped=0)
    done = 0

    def end_kernel() -> None:
        board.finish()
        reports.extend(board.reports())
        counters.update(board.counters())

    with reached(lambda: f"event {done}, with {board.pushed} transactions sent"):
        board.discard()
        for event in events:
            if event.kind == EventKind.KERNEL_BEGIN:
                board.launch(region)
            board.play(event)
            if event.kind == EventKind.KERNEL_END:
                end_kernel()
            done += 1
    return BoardRun(tuple(reports), dict(counters), board.pushed, time.monotonic() - started)


def check_reports(golden: Iterable[RingReport], run: BoardRun) -> str:
    """First difference between a board and the golden model in one sentence; empty if none.

    The board numbers reports from reset, and the order of one event's reports from several banks is
    unspecified, so both are ignored.  Dropped reports are counted and are not a difference.
    """
    races = [value for name, value in run.counters.items() if name.startswith("races_")]
    due = Counter(map(_unnumbered, golden))
    if races and sum(races) != due.total():
        return f"Races of the board must number {due.total()}, not {sum(races)}"
    seen = Counter(map(_unnumbered, run.reports))
    if extra := seen - due:
        return f"Reports of the board must be the golden model's, not {_said(next(iter(extra)))}"
    missing, dropped = (due - seen).total(), run.counters["reports_dropped"]
    if missing != dropped:
        return f"Reports of the board must lack the {dropped} that it dropped, not {missing}"
    return ""


def _said(report: Any) -> str:
    """A report in words, or as a number if its record is not one."""
    try:
        return str(report.sentence())
    except (KeyError, ValueError):
        return f"{report.record():#066x}"


def _unnumbered(report: Any) -> Any:
    return replace(report, sequence=0)
