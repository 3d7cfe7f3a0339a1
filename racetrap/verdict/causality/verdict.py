"""Causality's part of the verdict on traces.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from racetrap.golden_model.causality.report import race_words
from racetrap.verdict.causality.findings import find_races
from racetrap.verdict.causality.missed import outcomes
from racetrap.verdict.gpu.accesses import unwatched_shared
from racetrap.verdict.gpu.detector_verdict import DetectorVerdict

#: Nothing is imposed: a report of an ordered pair is an error of the detector.
VERDICT = DetectorVerdict(
    find_races,
    race_words,
    outcomes,
    lambda trace, rule, reports: [],
    unwatched_shared,
    lambda kind: "causality imposes nothing",
)
