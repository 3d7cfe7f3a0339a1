"""Table of the results."""

from docs.site.history.results import Result
from docs.site.results import results_table

_ROWS = [
    Result("2026-01-01", "0.1.0", "abc", "racetrap cost scord", "LUTs", "LUT", 2500),
    Result("2026-01-02", "0.1.0", "abd", "racetrap bench", "rate", "accesses/cycle", 0.9876),
    Result("2026-02-01", "0.2.0", "abe", "racetrap cost scord", "LUTs", "LUT", 2400),
]


def test_the_latest_value_stands_before_those_before_it():
    assert results_table(_ROWS).splitlines()[2:] == [
        "| LUTs | 2,400 LUT | 2026-02-01 | 0.2.0 (abe) | `racetrap cost scord` "
        "| 2,500 LUT (2026-01-01) |",
        "| rate | 0.988 accesses/cycle | 2026-01-02 | 0.1.0 (abd) | `racetrap bench` |  |",
    ]
