"""HiRace's part of the verdict on traces.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

import numpy as np

from racetrap.golden_model.events import EventKind, MemoryOrder
from racetrap.golden_model.hirace.report import race_words
from racetrap.golden_model.trace import Trace
from racetrap.verdict.gpu.accesses import unwatched_shared
from racetrap.verdict.gpu.detector_verdict import DetectorVerdict
from racetrap.verdict.gpu.findings import Reports, UniqueRace
from racetrap.verdict.hirace.findings import find_races
from racetrap.verdict.hirace.missed import outcomes


def _imposed(trace: Trace, rule: str, reports: Reports) -> list[UniqueRace]:
    """Reports of accesses that may be ordered other than by barriers: strong accesses of either
    instruction, or fences in the run."""
    events = trace.events
    if (events["kind"] == EventKind.FENCE).any():
        return list(reports)
    is_access = events["kind"] <= EventKind.ATOMIC
    is_strong = is_access & ((events["order"] != MemoryOrder.IMPLIED) | (events["strong"] != 0))
    strong = set(np.unique(events["pc"][is_strong]).tolist())
    return [
        report for report, earlier in reports.items()
        if not strong.isdisjoint((report[0], *earlier))
    ]  # fmt: skip


VERDICT = DetectorVerdict(
    find_races, race_words, outcomes, _imposed, unwatched_shared,
    lambda kind: "HiRace knows only barriers and atomics",
)  # fmt: skip
