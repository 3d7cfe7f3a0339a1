"""Known misses and false reports of ScoRD, in the order of the page."""

from __future__ import annotations

from docs.site.history.limit import Limit, counted

LIMITS = (
    counted("read hand-over", "handed-over entry", remark="includes every other change of owner"),
    counted(
        "strength of the latest access only, own re-read after a fence",
        "fence seen, order not",
        remark="both together, and fences that no reader waited for",
    ),
    counted(
        "shared entries", "tag conflict",
        remark="many in a region no larger than the data, none in a large one",
    ),
    counted(
        "lock filter", "Bloom collision",
        remark="between locks drawn at random: [lock hash](lock-hash.md#measured)",
    ),
    counted(
        "one lock that does not order", "lock in common",
        remark="its scope is too narrow, or a fence is missing elsewhere",
    ),
    Limit(
        "lock table",
        remark="no rate: no program of the suites holds five locks at once",
    ),
    counted(
        "reused slots, and what no table requires", "no rule of the method",
        remark="not distinguished; `slot_generation_bits` reports most races of reused slots",
    ),
    Limit(
        "transitive synchronisation", ("false races, cached",),
        "on random programs: "
        "`python -m racetrap.evaluation.scord.race_free_programs phase --programs 20000`",
    ),
    Limit(
        "counter wrap",
        remark="no rate: it needs exactly the number of fences or barriers at which a counter "
        "wraps; random runs with the knobs `wraps` reach it on purpose",
    ),
    Limit("granularity", ("false races, 8 bytes", "false races, 16 bytes")),
)  # fmt: skip
