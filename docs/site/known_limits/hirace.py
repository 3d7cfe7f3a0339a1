"""Known misses and false reports of HiRace, in the order of the page."""

from __future__ import annotations

from docs.site.history.limit import Limit

LIMITS = (
    Limit(
        "fences, volatile accesses, locks",
        remark="no rate: the method supports none of them, and reports every such program",
    ),
    Limit(
        "handed-over word",
        remark="no rate: a word holds only the last thread; its state summarises what others did "
        "before",
    ),
    Limit(
        "bytes of a word",
        remark="no rate: threads that write different bytes of a word count as racing",
    ),
    Limit(
        "counter wrap",
        remark="no rate: it needs exactly the number of barriers, or blocks in a slot, at which "
        "a count wraps; random runs of the style `wraps` reach it on purpose",
    ),
)  # fmt: skip
