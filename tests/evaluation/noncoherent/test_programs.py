"""Programs with something left out: found where harmful, explained where not."""

from dataclasses import replace

import pytest

from racetrap.evaluation.noncoherent.programs import (
    COMPLETE,
    ProgramPart,
    program_problems,
    run_program,
)
from racetrap.evaluation.noncoherent.runtimes import PAPER, measure_analysis
from racetrap.evaluation.noncoherent.tables import Evaluation, make_tables, problems
from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS


@pytest.fixture(scope="module")
def adc_ring():
    return run_program(ProgramPart("adc_ring", 40, 1))


@pytest.fixture(scope="module")
def vec_power():
    return run_program(ProgramPart("vec_power", 40, 1))


def test_bugs_of_firmware_are_found(adc_ring):
    assert [case.omission for case in adc_ring] == [COMPLETE, "wait", "invalidate", "alignment"]
    complete, *bugs = adc_ring
    assert not complete.is_harmful
    assert complete.strict == complete.thesis == ()
    for case in bugs:
        assert case.is_reported
        assert case.racy_bytes > 0
        assert case.wrong > 0
        assert case.is_first_same
    assert "stale-read" in bugs[1].strict
    assert bugs[1].thesis == ()  # the thesis has no stale lines


def test_harmless_reports_have_a_named_rule(vec_power):
    cases = {case.omission: case for case in vec_power}
    padding = cases["padding"]
    assert padding.strict == ()
    assert padding.thesis == ("5b (false sharing)",)
    assert padding.explanation == "false sharing"
    assert cases["first-sync"].strict == ("1c",)
    assert cases["first-sync"].explanation == ""


def test_no_problems(adc_ring, vec_power):
    assert program_problems([*adc_ring, *vec_power]) == []


@pytest.mark.parametrize(
    ("number", "changes", "words"),
    [
        (1, {"is_reported": False}, "without wait: harm must be reported"),
        (1, {"racy_bytes": 0}, "must be of bytes that race"),
        (1, {"is_first_same": False}, "must be that of the exhaustive machine"),
        (1, {"racy_bytes": 0, "wrong": 0}, "reports without harm must be false sharing"),
        (0, {"wrong": 1}, "must be silent and right"),
        (0, {"thesis": ("5b",)}, "must be silent and right"),
    ],
)
def test_planted_problems(adc_ring, number, changes, words):
    problems = program_problems([replace(adc_ring[number], **changes)])
    assert any(words in problem for problem in problems), problems


def test_tables(adc_ring):
    found = Evaluation(cases=adc_ring, times=[measure_analysis("libfixmath")])
    tables = {table.name: table for table in make_tables(found)}
    assert tables.keys() == {"published", "programs", "figure-5.1"}
    (row,) = tables["figure-5.1"].to_json()
    assert (row["paper lines"], row["paper seconds"]) == PAPER["libfixmath"]
    assert row["operations"] > 0
    assert len(tables["programs"].rows) == 4
    assert problems(found) == []


def test_catalogue():
    """Eleven programs of the thesis and six of firmware, each with bugs."""
    groups = [program.group for program in ACCELERATOR_PROGRAMS.values()]
    assert (groups.count("thesis"), groups.count("firmware")) == (11, 6)
    for program in ACCELERATOR_PROGRAMS.values():
        assert program.source.is_file()
        assert len(program.omissions) >= 2
