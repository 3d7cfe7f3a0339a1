"""Programs on Vortex: memories drawn by seeds, and some runs."""

import pytest

from racetrap.evaluation.vortex.detection import DETECTORS, MICRO_SEEDS
from racetrap.evaluation.vortex.programs import PROGRAMS, Program, ProgramRun, run_program
from tests.support.vortex.needs import needs_vortex

_SCORD = next(iter(DETECTORS))
_RACY, _FREE = (
    Program("race_interblock_blkfence_raw"), Program("norace_interblock_fence_raw"),
)  # fmt: skip


def test_each_switch_of_the_suite_is_a_program():
    assert [str(program) for program in PROGRAMS["RED"]] == [
        "RED", "RED, no-flag-fence", "RED, block-scope-fence",
    ]  # fmt: skip
    assert sum(program.is_racy for each in PROGRAMS.values() for program in each) == 18 + 26


def test_memories_differ_by_seed_and_are_the_same_again():
    machines = [ProgramRun(_RACY, _SCORD, seed).machine for seed in MICRO_SEEDS]
    assert machines == [ProgramRun(_RACY, _SCORD, seed).machine for seed in MICRO_SEEDS]
    assert len({machine.latency for machine in machines}) > 10
    assert {machine.l1 for machine in machines} == {False, True}


_APPLICATIONS = [Program("RED"), Program("RED", "no-flag-fence"), Program("1DC")]
_runs = [(program, preset) for preset in DETECTORS for program in (_RACY, _FREE, *_APPLICATIONS)]


@pytest.mark.parametrize(("program", "preset"), [
    pytest.param(*each, marks=needs_vortex, id=f"{each[0]} beside {each[1]}") for each in _runs
])  # fmt: skip
def test_a_run_is_as_expected(program, preset):
    found = run_program(ProgramRun(program, preset, 1))
    due = program.is_racy if DETECTORS[preset] else found.is_racy
    assert found.is_reported == due
    assert found.is_racy >= program.is_racy
    assert found.is_wrong <= program.is_racy
    assert found.transactions > 4
