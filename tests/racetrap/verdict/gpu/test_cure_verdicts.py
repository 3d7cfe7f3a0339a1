from collections import Counter

import pytest

from racetrap.verdict.gpu.trace_check import TraceCheck
from tests.support.gpu.cuda_programs import needs_compiler
from tests.support.gpu.cures.programs import (
    FOLDER,
    PROGRAMS,
    SuiteRun,
    racy_programs,
    run_together,
)

ALL = [program for programs in PROGRAMS.values() for program in programs]
RIGHT = {program.name for program in ALL if not program.text}


@pytest.fixture(scope="module", params=[False, True], ids=["as they are", "cured"])
def run(request, tmp_path_factory) -> SuiteRun:
    folder = tmp_path_factory.mktemp("cures")
    return run_together(ALL, folder, is_cured=request.param, independent_threads=True)


def test_suite_is_of_sixty_programs_that_lack_something_and_twenty_right_ones():
    assert Counter(program.folder for program in ALL) == dict.fromkeys(
        ("barrier", "warp", "fence", "right"), 20
    )
    assert {FOLDER / program.source for program in ALL} == set(FOLDER.rglob("*.cu"))


@needs_compiler
def test_race_is_found_in_each_program_that_lacks_something_and_in_no_other(run):
    check = TraceCheck()
    check.add(run.run.trace)
    racy = racy_programs(check.pairs, run).keys()
    assert (list(check.divergences), run.run.problems, run.run.status) == ([], (), 0)
    if run.is_cured:
        assert (racy, run.wrong) == (set(), set())
    else:
        assert racy == {program.name for program in ALL} - RIGHT
        assert not run.wrong & RIGHT
