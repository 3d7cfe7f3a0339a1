"""Detection quality of access policies: when buffers are full, and what a run makes of it."""

from dataclasses import replace

import pytest

from racetrap.evaluation.scord.access_policies import (
    POLICIES,
    Policy,
    PolicyRun,
    fullness,
    judge,
    tables,
)
from racetrap.evaluation.scord.programs import Build, Schedule
from racetrap.golden_model.scord.packets import Transaction, TransactionKind
from racetrap.golden_model.scord.params import ScordParams

LINE = Transaction(TransactionKind.STORE, mask=(1 << 32) - 1)
FENCE = Transaction(TransactionKind.FENCE)
PARAMS = ScordParams(sm_count=2, access_buffer_depth=2, access_policy="drop")


@pytest.mark.parametrize(
    ("words", "played", "full"),
    [
        (0, [(0, LINE)] * 4, [False] * 4),
        (32, [(0, LINE)] * 4, [False] * 4),
        (16, [(0, LINE)] * 6, [False, False, False, True, False, True]),
        # Buffers of other SMs fill by themselves.
        (1, [(0, LINE), (1, LINE), (0, LINE), (1, LINE), (0, LINE)], [False] * 4 + [True]),
        # A fence waits for its place, and then until the buffer is empty.
        (1, [(0, LINE)] * 3 + [(0, FENCE)] + [(0, LINE)] * 2, [False, False, True] + [False] * 3),
    ],
)
def test_when_a_buffer_is_full(words, played, full):
    assert list(fullness(played, Policy(PARAMS, words))) == full


def test_policies_on_an_application():
    build = Build("1DC", "1DC", frozenset({"block-scope-border"}))
    run, pairs, counts = judge(PolicyRun(build, "tiny", (Schedule(0, 1),)))
    assert run.build == build
    assert pairs
    assert counts["stall"].caught
    assert counts["stall"].left_out == 0
    total = counts["stall"].checked
    for name, count in counts.items():
        assert count.checked + count.left_out == total, name
        assert count.found <= counts["stall"].found or "drop" in name
    sampled = [counts[f"sample 1 line of {lines}"].left_out for lines in (2, 4, 8, 16)]
    dropped = [counts[f"drop, {words} words a tick"].left_out for words in (16, 8, 4, 2, 1)]
    assert sampled == sorted(sampled)
    assert dropped == sorted(dropped)
    (table,) = tables([(run, pairs, counts)])
    assert [row[0] for row in table.rows] == list(POLICIES)
    assert table.rows[0][1:] == (1, 1, len(pairs), len(counts["stall"].found), 0, 0.0)


def test_stall_is_the_detector_itself():
    """No policy but ``stall`` has parameters that leave anything out."""
    assert not POLICIES["stall"].params.leaves_out
    for name, each in POLICIES.items():
        if name != "stall":
            assert each.params.leaves_out
    assert replace(POLICIES["stall"].params) == ScordParams()
