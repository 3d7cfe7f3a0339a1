"""Known misses and false reports of the detector of accelerators and the bus monitor."""

from __future__ import annotations

from docs.site.history.limit import Limit

LIMITS = (
    Limit("mode strict", ("mode strict: first race missed", "mode strict: first race added")),
    Limit("mode thesis", ("mode thesis: first race missed", "mode thesis: first race added")),
    Limit("bus monitor, lost", ("races lost",), "there must be none"),
    Limit("bus monitor, possible races that are none", ("possible races that are none",)),
)  # fmt: skip
