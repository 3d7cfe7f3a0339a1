"""Micro-benchmarks on Vortex: tables and problems from made runs, and some runs."""

import pytest

from racetrap.evaluation.vortex.detection import (
    DETECTORS,
    SEEDS,
    MicroFound,
    MicroRun,
    detection_tables,
    problems_of,
    run_micro,
)
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from tests.support.vortex.needs import needs_vortex

_SCORD, _CAUSALITY = DETECTORS
_RACY, _FREE = "race_interblock_blkfence_raw", "norace_interblock_fence_raw"
_REPORTED = MicroFound(True, True, 0, 0, 10, 20, 300)
_QUIET = MicroFound(False, False, 0, 0, 10, 20, 300)


def test_runs_are_counted_by_benchmark_and_detector():
    found = {
        (_RACY, _SCORD): [_REPORTED, _REPORTED, _QUIET],
        (_RACY, _CAUSALITY): [_REPORTED, _REPORTED],
        (_FREE, _SCORD): [_QUIET],
    }
    programs, sums = detection_tables(found)
    assert programs.rows == (
        (_RACY, "racy", "2 of 3", "2 of 2", "4 of 5"),
        (_FREE, "race-free", "0 of 1", None, "0 of 1"),
    )
    assert sums.rows == ((_SCORD, 4, 0, 0, 40, 80, 1200), (_CAUSALITY, 2, 0, 0, 20, 40, 600))


@pytest.mark.parametrize(
    ("name", "preset", "run", "is_right"),
    [
        (_RACY, _SCORD, _REPORTED, True),
        (_RACY, _SCORD, _QUIET, False),
        (_FREE, _SCORD, _QUIET, True),
        (_FREE, _SCORD, _REPORTED, False),
        # Causality's verdict is the exact analysis's, whatever the suite says.
        (_FREE, _CAUSALITY, _REPORTED, True),
        (_RACY, _CAUSALITY, _QUIET, True),
        (_RACY, _CAUSALITY, _REPORTED._replace(is_reported=False), False),
        (_FREE, _CAUSALITY, _QUIET._replace(is_reported=True), False),
    ],
)
def test_a_wrong_verdict_is_a_problem(name, preset, run, is_right):
    problems = problems_of({(name, preset): [_REPORTED if MICRO_BENCHMARKS[name].racy else _QUIET,
                                             run]})  # fmt: skip
    assert len(problems) == (not is_right)
    if problems:
        assert "run 2" in problems[0]
        assert name in problems[0]


def test_memories_differ_by_seed_and_are_the_same_again():
    machines = [MicroRun(_RACY, _SCORD, seed).machine for seed in SEEDS]
    assert machines == [MicroRun(_RACY, _SCORD, seed).machine for seed in SEEDS]
    assert len({machine.latency for machine in machines}) > 10
    assert {machine.l1 for machine in machines} == {False, True}


_runs = [(name, preset) for preset in DETECTORS for name in (_RACY, _FREE)]


@pytest.mark.parametrize(("name", "preset"), [
    pytest.param(*each, marks=needs_vortex) for each in _runs
])  # fmt: skip
def test_a_run_is_as_expected(name, preset):
    found = run_micro(MicroRun(name, preset, 1))
    due = MICRO_BENCHMARKS[name].racy if DETECTORS[preset] else found.is_racy
    assert found.is_reported == due
    assert found.is_racy >= MICRO_BENCHMARKS[name].racy
    assert found.transactions > 4
