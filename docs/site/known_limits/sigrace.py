"""Known misses and false reports of SigRace, in the order of the page."""

from __future__ import annotations

from docs.site.history.limit import Limit, counted

LIMITS = (
    counted("window: queue", "missed: queue", "missed: queue or log"),
    counted("window: checkpoint", "missed: checkpoint"),
    counted("conflict log", "missed: log", "missed: queue or log"),
    counted("atomics", "missed: atomic"),
    Limit(
        "happens-before",
        remark="no rate: a pair that this run has ordered is no race of this run for the oracle "
        "either",
    ),
    Limit("aliasing", (", regular programs", ", irregular programs")),
    Limit("reports that are no race", ("reports that are no race",), "there must be none"),
)  # fmt: skip
