"""Known misses and false reports of HiRace, in the order of the page."""

from __future__ import annotations

from docs.site.history.limit import Limit

LIMITS = (
    Limit(
        "fences, volatile accesses, locks",
        remark="no rate: the method knows none of them, and reports every such program",
    ),
    Limit(
        "handed-over word",
        remark="no rate: a word names the last thread alone; what another did before is kept by "
        "its state as far as the state can say it",
    ),
    Limit(
        "bytes of a word",
        remark="no rate: threads that write different bytes of a word race to it",
    ),
    Limit(
        "counter wrap",
        remark="no rate: it takes exactly as many barriers, or blocks in a slot, as a count "
        "counts; random runs of the style `wraps` make them so on purpose",
    ),
)  # fmt: skip
