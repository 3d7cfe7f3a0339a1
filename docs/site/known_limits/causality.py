"""Known misses of causality, in the order of the page; no false report is known."""

from __future__ import annotations

from docs.site.history.detection import outcome_of
from docs.site.history.limit import Limit
from racetrap.verdict.causality.missed import Cause

#: With an entry for each word, and one for 32 words.
_DETECTORS = ("causality-nocache", "causality")


def _counted(name: str, *causes: Cause, remark: str = "") -> Limit:
    ends = (outcome_of(cause, detector) for cause in causes for detector in _DETECTORS)
    return Limit(name, tuple(ends), remark)


LIMITS = (
    _counted(
        "handed-over entry", Cause.HANDED_OVER,
        remark="an entry has one writer and one reader; the same instructions are often reported "
        "in another instance",
    ),
    _counted(
        "taken as a flag", Cause.FLAG,
        remark="a release counts for the whole warp, so another lane's volatile write may be a "
        "flag",
    ),
    _counted(
        "observed write", Cause.OBSERVED, remark="an entry names one warp that has read the write"
    ),
    _counted(
        "full table, clock wrap", Cause.FULL_TABLE, Cause.CLOCK_WRAP,
        remark="the suites never wrap; `python -m tests.detection` also measures wraps at 8 and 16",
    ),
    _counted(
        "tag conflict, displaced message", Cause.TAG_CONFLICT, Cause.LOST_MESSAGE,
        remark="none with an entry for each word",
    ),
    _counted(
        "more learnt than released, lanes of one warp, message acquired by the access",
        Cause.LEARNT, Cause.LANES, Cause.ACQUIRED,
    ),
    Limit(
        "pairs that may conflict", tuple(
            f"{detector}: reported pairs that may conflict" for detector in _DETECTORS
        ),
        "reported volatile accesses that the oracle lists as unordered but strong",
    ),
)  # fmt: skip
