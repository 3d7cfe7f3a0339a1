"""Known misses of causality, in the order of the page; no false report is known."""

from __future__ import annotations

from docs.site.history.limit import Limit

LIMITS = (
    Limit(
        "handed-over entry",
        remark="no rate: an entry has one writer and one reader; the same instructions are often "
        "reported in another instance",
    ),
    Limit(
        "taken as a flag",
        remark="no rate: in the suites the kernel `grid_phases_reuse` alone; a release counts for "
        "the whole warp, so another lane's volatile write may be a flag",
    ),
    Limit(
        "observed write",
        remark="no rate: an entry names one warp that has read the write",
    ),
    Limit(
        "full table, clock wrap",
        remark="no rate: none in the suites of constructs and small kernels; random runs with "
        "`clock_bits=4` wrap on purpose",
    ),
    Limit(
        "tag conflict, displaced message",
        remark="no rate: none with `causality-nocache`; at ratio 32, 46 of 593 random programs "
        "found so are lost (`python -m tests.detection`)",
    ),
    Limit(
        "more learnt than released, lanes of one warp, message acquired by the access",
        remark="no rate: in the suites the construct `chain_relaxed` alone",
    ),
    Limit(
        "pairs that are free to conflict",
        remark="no rate: some volatile accesses are reported that the judge lists as unordered but "
        "strong, none in a suite",
    ),
)  # fmt: skip
