"""ScoRD's part of the verdict on traces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from racetrap.golden_model.events import Event
from racetrap.golden_model.scord.packets import RaceKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import race_words
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.trace import Trace
from racetrap.verdict.gpu.accesses import shared_accesses
from racetrap.verdict.gpu.detector_verdict import DetectorVerdict
from racetrap.verdict.gpu.findings import Finding
from racetrap.verdict.gpu.fit import region_of
from racetrap.verdict.scord.findings import find_races
from racetrap.verdict.scord.imposed import imposed_by_method
from racetrap.verdict.scord.missed import outcomes

_NO_ACQUIRE = (
    "ScoRD has no acquire: it asks for a fence of the earlier warp between them, and knows no "
    "access that is relaxed, acquires or releases"
)
#: Why ScoRD reports a pair that is no race, by the kind of the report: what follows its name.
_WHY_IMPOSED = {
    race_words(kind): clause
    for kind, clause in (
        (RaceKind.MISSING_BLOCK_FENCE, _NO_ACQUIRE),
        (RaceKind.MISSING_DEVICE_FENCE, _NO_ACQUIRE),
        (RaceKind.NOT_STRONG, "ScoRD asks that both are strong, whatever orders them"),
        (RaceKind.SCOPED_ATOMIC, "ScoRD asks for device scope, whatever orders them"),
        (RaceKind.MISSING_LOCK,
         "ScoRD has no acquire: it asks for a common lock, which to it is a CAS and an exchange "
         "only"),
    )
}  # fmt: skip


def _find_races(
    trace: Trace, params: ScordParams, events: Iterable[Event] | None
) -> tuple[Scord, Iterator[Finding]]:
    return find_races(trace, params, region_of(trace), events)


VERDICT = DetectorVerdict(
    _find_races,
    race_words,
    outcomes,
    imposed_by_method,
    lambda trace, params: shared_accesses(trace),
    _WHY_IMPOSED.__getitem__,
)
