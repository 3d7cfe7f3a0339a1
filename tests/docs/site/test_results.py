"""Table of the results."""

from collections import Counter

from docs.site.history.results import Result
from docs.site.mutant_scores import latest_scores, mutant_scores
from docs.site.results import results_table
from racetrap.evaluation.mutants.table import SUMS, explanations

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


def test_the_latest_score_of_a_block_has_its_interval():
    def row(date, block, killed, judged):
        figure = f"mutants of scord-tiny, {block}: killed"
        return Result(date, "0.1.0", "abc", "racetrap mutants scord-tiny", figure, judged, killed)

    rows = [
        row("2026-01-01", "bank", 1, "of 2"), row("2026-02-01", "bank", 20, "of 20"),
        row("2026-02-01", "bank_fifo", 0, "of 0"), *_ROWS,
    ]  # fmt: skip
    assert mutant_scores(_ROWS) == "No score is kept yet.\n"
    assert mutant_scores(rows).splitlines()[2:] == [
        "| scord-tiny | bank | 20 | 20 | 100.0 | 83.9-100.0 | 2026-02-01 (abc) |",
        "| scord-tiny | bank\\_fifo | 0 | 0 |  | 0.0-100.0 | 2026-02-01 (abc) |",
    ]


def test_each_survivor_of_a_kept_score_has_a_reason_and_no_other_has():
    survivors = Counter({
        (score.preset, score.block): score.judged - score.killed
        for score in latest_scores() if score.block not in SUMS
    })  # fmt: skip
    reasons = Counter(
        (preset, name.split(": ", 1)[0])
        for preset, names in explanations().items()
        for name in names
    )
    assert +survivors == reasons
