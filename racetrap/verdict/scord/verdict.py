"""ScoRD's part of the verdict on traces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from racetrap.golden_model.events import Event, EventKind, Space
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import race_words
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.trace import Trace
from racetrap.verdict.gpu.detector_verdict import DetectorVerdict
from racetrap.verdict.gpu.findings import Finding
from racetrap.verdict.gpu.fit import check_fit, region_of
from racetrap.verdict.scord.by_decree import by_decree
from racetrap.verdict.scord.findings import find_races
from racetrap.verdict.scord.missed import outcomes

__all__ = ["VERDICT"]


def _find_races(
    trace: Trace, params: ScordParams, events: Iterable[Event] | None
) -> tuple[Scord, Iterator[Finding]]:
    return find_races(trace, params, region_of(trace), events)


def _shared_accesses(trace: Trace, params: ScordParams) -> int:
    events = trace.events
    return int(((events["kind"] <= EventKind.ATOMIC) & (events["space"] == Space.SHARED)).sum())


VERDICT = DetectorVerdict(
    check_fit,
    _find_races,
    race_words,
    outcomes,
    by_decree,
    _shared_accesses,
    "the method asks for strong ones",
)
