"""The paper's figures are consistent with each other where the paper is."""

from statistics import mean, median

import pytest

from racetrap.evaluation.bugaroo.published import (
    COUNTS,
    FAILURES,
    MEAN_OVERHEAD,
    MEDIAN_OVERHEAD,
    TIMES,
)
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS


@pytest.mark.parametrize("name", TIMES)
def test_overhead_is_that_of_the_times_but_for_hotspot(name):
    near = TIMES[name].recomputed == pytest.approx(TIMES[name].overhead, abs=0.006)
    assert near == (name != "hotspot")
    if not near:
        assert TIMES[name].recomputed == pytest.approx(13.19, abs=0.005)


def test_last_rows_of_table_3_are_ratios_of_mean_and_median_times():
    for function, printed in ((mean, MEAN_OVERHEAD), (median, MEDIAN_OVERHEAD)):
        native = function(row.native for row in TIMES.values())
        instrumented = function(row.instrumented for row in TIMES.values())
        assert 100 * (instrumented / native - 1) == pytest.approx(printed, abs=0.03)


def test_rows_are_those_of_the_same_programs():
    assert list(COUNTS) == list(TIMES)
    assert {program.split("_")[0] for program in COUNTS} >= {
        paper.split("_")[0] for paper, _ in FAILURES
    }


def test_table_4_is_that_of_the_suite():
    rows = {
        (program.paper, variant.table)
        for program in PROGRAMS.values()
        for variant in program.variants
        if variant.table
    }
    assert rows == set(FAILURES)


def test_every_version_without_failures_lacks_an_acquire_or_nothing():
    for program in PROGRAMS.values():
        for variant in program.variants:
            if variant.table:
                row = FAILURES[program.paper, variant.table]
                lacks = {"overfenced": set(), "optimal": {"acquire"}}
                assert variant.lacks == lacks.get(row.comment, {"acquire", "release"}), variant
                assert any(row.rates) == (row.comment == "underfenced")
