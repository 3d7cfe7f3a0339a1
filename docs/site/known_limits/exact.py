"""Known misses and false reports of the exact analysis, in the order of the page."""

from __future__ import annotations

from docs.site.history.limit import Limit

LIMITS = (
    Limit(
        "missing fences that are no race", ("that lack a fence, racy by the oracle",),
        "why the others do not race: [programs of weak memory](weak-memory-programs.md)",
    ),
    Limit("race-free variants", ("that lack nothing, racy by the oracle",)),
)  # fmt: skip
