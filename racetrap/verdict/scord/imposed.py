"""Reports imposed by the method although the oracle has no race.

Ref: ScoRD (ISCA'20) Section III: accesses that conflict must be strong.
"""

from __future__ import annotations

import numpy as np

from racetrap.golden_model.events import EventKind, MemoryOrder
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.oracle import PAPER_RULE, run_oracle
from racetrap.verdict.gpu.findings import Reports, UniqueRace
from racetrap.verdict.gpu.oracle import racing_pairs, unconfirmed


def imposed_by_method(trace: Trace, rule: str, reports: Reports) -> list[UniqueRace]:
    """Unconfirmed reports that the method requires however the accesses are ordered: both must be
    strong, as the paper's rule confirms, or fenced, since it has no relaxed, acquire or release
    accesses.

    Parameters
    ----------
    trace : Trace
        The run.
    rule : str
        Rule by which they are unconfirmed.
    reports : Reports
        The unconfirmed reports.
    """
    if not reports or rule == PAPER_RULE:
        return []
    left = unconfirmed(reports, racing_pairs(run_oracle(trace, PAPER_RULE)))
    events = trace.events
    has_order = (events["kind"] <= EventKind.ATOMIC) & (events["order"] != MemoryOrder.IMPLIED)
    ordered = set(np.unique(events["pc"][has_order]).tolist())
    return [
        report for report, earlier in reports.items()
        if report not in left or not ordered.isdisjoint((report[0], *earlier))
    ]  # fmt: skip
