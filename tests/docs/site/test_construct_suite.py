"""Tables of the suite of constructs."""

from docs.site.construct_suite import constructs_table, verdicts_tables
from racetrap.verdict.scord.missed import Cause
from tests.support.gpu.construct_verdicts import Verdict
from tests.support.gpu.constructs.cases import CONSTRUCTS, GROUPS

_PAIRS = [pair for pairs in GROUPS.values() for pair in pairs]
#: What a detector and an oracle find that make no mistake.
_RIGHT = {pair.free: Verdict(data={pair.result}) for pair in _PAIRS} | {
    pair.racy: Verdict(set(pair.races), outcomes={Cause.REPORTED}) for pair in _PAIRS
}


def _last_count(found):
    return next(line for line in verdicts_tables(found).splitlines() if line.startswith("| All "))


def test_counts():
    count = len(_PAIRS)
    start = f"| All | {count} |"
    assert (
        _last_count(_RIGHT)
        == f"{start} {2 * count} of {2 * count} | {count} | 0 | 0 | {count} | 0 | 0 |"
    )
    wrong = {_PAIRS[0].racy: Verdict(), _PAIRS[1].free: Verdict(false={"missing-lock"})}
    assert f"{start} {2 * count - 4} of " in _last_count(_RIGHT | wrong)
    assert f" | {count - 1} | 0 | 1 | {count - 1} | 0 | 0 |" in _last_count(_RIGHT | wrong)


def test_every_pair_has_a_row():
    page = verdicts_tables(_RIGHT)
    for pair in _PAIRS:
        assert f"\n| `{pair.free}` | `{pair.racy}` | " in page
        assert page.count(f" | {pair.reason} | silent | reported |\n") >= 1


def test_every_construct_runs_or_is_refused():
    rows = constructs_table().splitlines()[2:]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == list(CONSTRUCTS)
    for row in rows:
        assert len(row.split("|")) == 5, row
        assert row.replace(" ", "")[-3:], row
    assert [row for row in rows if "`" in row.split("|")[2]]
