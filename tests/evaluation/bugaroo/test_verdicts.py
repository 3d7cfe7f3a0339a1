"""The oracle's verdict on each variant is what the suite states."""

from dataclasses import replace

import pytest

from racetrap.evaluation.bugaroo.verdicts import VariantRun, judge, problems, variant_runs
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS

#: Schedules of a program whose readers rarely see the flag without taking the lock.
_RARE = {"double_checked": 11}
RUNS = [replace(run, schedules=_RARE.get(run.program, 2)) for run in variant_runs((), 2)]


def _name(run):
    return f"{run.program}_{run.variant}_{run.threads}"


@pytest.mark.parametrize("run", RUNS, ids=_name)
def test_verdicts_are_as_stated(run):
    assert problems([judge(run)]) == []


@pytest.mark.campaign
@pytest.mark.parametrize(
    "run", [*variant_runs((), 20), *variant_runs((), 40, threads=64)], ids=_name
)
def test_verdicts_are_as_stated_in_many_schedules(run):
    assert problems([judge(run)]) == []


def test_program_is_chosen_by_name():
    runs = variant_runs(("dekker",), 3, threads=64)
    assert {(run.program, run.schedules, run.threads) for run in runs} == {("dekker", 3, 64)}
    assert [run.variant for run in runs] == [each.name for each in PROGRAMS["dekker"].variants]


def test_instructions_are_counted():
    counts = judge(VariantRun("dot_product", "full", 1)).counts
    assert counts.fences == 2 * 3  # two in each of three critical sections
    assert counts.fence_places == 2
    assert counts.global_stores == 3
    assert counts.shared_stores == 3 * (32 + 31)  # a tree of 32 threads in each block
    assert judge(VariantRun("dot_product", "no_acquire", 1)).counts.fences == 3


def test_problems_name_the_variant_and_what_is_wrong():
    right = judge(VariantRun("dot_product", "full", 1))
    assert problems([replace(right, wrong=1)]) == [
        "Result of dot_product_full must be NumPy's, not different in 1 of 1 schedules"
    ]
    assert problems([replace(right, racy=1)]) == [
        "Verdict on dot_product_full must be no race, not one in 1 of 1 schedules"
    ]
    racy = judge(VariantRun("dot_product", "no_release", 1))
    assert problems([racy, replace(racy, racy=0)]) == [
        "Verdict on dot_product_no_release must be a race, not one in 0 of 1 schedules"
    ]
