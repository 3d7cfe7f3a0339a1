"""Tables and problems of programs on Vortex, from made runs."""

import pytest

from racetrap.evaluation.vortex.detection import DETECTORS, detection_tables, problems_of
from racetrap.evaluation.vortex.programs import Program, ProgramFound

_SCORD, _CAUSALITY = DETECTORS
_RACY, _FREE = (
    Program("race_interblock_blkfence_raw"), Program("norace_interblock_fence_raw"),
)  # fmt: skip
_WHOLE, _BROKEN = Program("MM"), Program("MM", "block-scope-lock")
_REPORTED = ProgramFound(True, True, False, 10, 20, 300)
_QUIET = ProgramFound(False, False, False, 10, 20, 300)
_WRONG = _REPORTED._replace(is_wrong=True)


def test_runs_are_counted_by_program_and_detector():
    found = {
        (_RACY, _SCORD): [_REPORTED, _REPORTED, _QUIET],
        (_RACY, _CAUSALITY): [_REPORTED, _REPORTED],
        (_FREE, _SCORD): [_QUIET],
        (_BROKEN, _SCORD): [_WRONG, _QUIET._replace(is_racy=True)],
    }
    programs, sums = detection_tables(found)
    assert programs.rows == (
        (_RACY.name, "racy", "2 of 3", "2 of 2", "4 of 5", None),
        (_FREE.name, "race-free", "0 of 1", None, "0 of 1", None),
        ("MM, block-scope-lock", "racy", "1 of 2", None, "2 of 2", "1 of 2"),
    )
    assert sums.rows == ((_SCORD, 6, 1, 0, 60, 120, 1800), (_CAUSALITY, 2, 0, 0, 20, 40, 600))


@pytest.mark.parametrize(
    ("program", "preset", "run", "is_right"),
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
        # The race of a switch may be in some runs only.
        (_BROKEN, _SCORD, _QUIET, True),
        (_BROKEN, _SCORD, _WRONG, True),
        (_WHOLE, _SCORD, _QUIET._replace(is_wrong=True), False),
        (_WHOLE, _SCORD, _REPORTED, False),
    ],
)
def test_a_wrong_verdict_is_a_problem(program, preset, run, is_right):
    problems = problems_of({(program, preset): [_REPORTED if program.is_racy else _QUIET, run]})
    assert len(problems) == (not is_right)
    if problems:
        assert "run 2" in problems[0]
        assert str(program) in problems[0]


def test_a_switch_that_is_never_reported_is_a_problem():
    assert len(problems_of({(_BROKEN, _SCORD): [_QUIET, _QUIET]})) == 1
    assert problems_of({(_BROKEN, _CAUSALITY): [_QUIET, _QUIET]}) == []
