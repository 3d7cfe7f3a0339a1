"""The table of cases is complete and holds to its own rules."""

from collections import Counter

import pytest

from racetrap.sim.gpu.launch.kernel_files import load_kernels
from racetrap.sim.gpu.suites.concurrency.cases import (
    BARRIER_DIVERGENCE,
    CASES,
    DIVERGENCE,
    GROUPS,
    INTER_BLOCK,
    INTRA_BLOCK,
    NONE,
    Case,
)

PACKAGE = "racetrap.sim.gpu.suites.concurrency"


def test_enough_cases():
    assert len(CASES) >= 66
    assert len(CASES) == sum(map(len, GROUPS.values())), "two cases have one name"


@pytest.mark.parametrize("source", sorted({case.source for case in CASES.values()}))
def test_every_kernel_is_a_case(source):
    functions = load_kernels(PACKAGE, source).functions
    kernels = {name for name, function in functions.items() if function.is_kernel}
    assert kernels == {case.name for case in CASES.values() if case.source == source}


def test_a_truth_stands_only_where_barracuda_errs():
    case = CASES["atomics_blocks_block"]
    assert case.is_racy
    assert not case.races
    assert not CASES["weak_data"].is_racy
    with pytest.raises(ValueError, match="atomics_blocks_block errs and only there"):
        Case.model_validate(case.model_dump() | {"grid": 2, "block": 32, "truth": "race-free"})
    assert [each.name for each in CASES.values() if each.truth and not each.truth_reason] == []


def test_every_class_of_race_is_there_many_times():
    counts = Counter(case.races for case in CASES.values())
    for verdict, least in (
        (NONE, 30),
        (DIVERGENCE, 8),
        (INTRA_BLOCK, 15),
        (INTER_BLOCK, 25),
        (BARRIER_DIVERGENCE, 3),
    ):
        assert counts[verdict] >= least


def test_reasons_are_sentences_of_one_line():
    for case in CASES.values():
        assert case.reason[0].isupper(), case
        assert case.reason.endswith("."), case
        assert "\n" not in case.reason + case.scoped_reason + case.scord_reason, case
        assert not case.scoped_reason.endswith("."), case
        assert not case.scord_reason.endswith("."), case


def _case(**fields):
    return Case(name="x", grid=1, block=1, races=NONE, reason="Why.", **fields)


def test_difference_without_reason_is_refused():
    with pytest.raises(ValueError, match=r"scoped_reason\n.*given where the verdicts on x differ"):
        _case(scoped=INTER_BLOCK)


def test_reason_without_difference_is_refused():
    with pytest.raises(ValueError, match=r"scoped_reason\n.*given where the verdicts on x differ"):
        _case(scoped_reason="because")
