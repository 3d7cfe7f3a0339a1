"""Known misses of causality, in the order of the page; it has no known false reports."""

from __future__ import annotations

from docs.site.history.limit import Limit, counted

LIMITS = (
    counted(
        "one writer and one reader a word", "handed-over entry",
        remark="the most frequent cause; the same instructions are often reported elsewhere",
    ),
    counted(
        "volatile flags", "taken as a flag",
        remark="a release counts for the whole warp, so that another lane's volatile write may be "
        "a flag; the kernel `grid_phases_reuse` is missed so",
    ),
    counted(
        "observed writes", "observed write",
        remark="an entry names one warp that has read the write",
    ),
    counted(
        "tables", "full table", "clock wrap",
        remark="none in the suites of constructs and small kernels, which lose nothing by tables "
        "of two exact entries",
    ),
    counted(
        "shared entries", "tag conflict", "displaced message",
        remark="none with `causality-nocache`",
    ),
    counted(
        "warps and lanes", "more learnt than released", "lanes of one warp",
        "message acquired by the access",
        remark="the construct `chain_relaxed` is missed so",
    ),
    Limit(
        "pairs that are free to conflict",
        remark="of random programs some volatile accesses are reported that the judge lists as "
        "unordered but strong; none in a suite",
    ),
)  # fmt: skip
