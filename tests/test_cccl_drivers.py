"""Drivers over CCCL: the kept table is whole, and a wrong result or a missed race is noticed."""

import dataclasses

import pytest

from tests.cccl_drivers import FOLDER, DriverRow, check_driver, kept_rows
from tests.support.gpu.cccl.results import OWN_RACES, REFUSED, RESULTS, is_right
from tests.support.gpu.cuda_programs import needs_compiler

ROWS = {(row.name, row.is_racy): row for row in kept_rows()}


def test_every_driver_has_a_source_and_every_row_a_driver():
    sources = "".join(path.read_text("utf-8") for path in FOLDER.glob("*.cu"))
    assert [name for name in RESULTS if f"defined(DRIVER_{name})" not in sources] == []
    assert {name for name, _ in ROWS} <= RESULTS.keys()
    assert len(RESULTS) >= 40


def test_every_row_is_as_expected():
    assert ROWS
    assert [row for row in ROWS.values() if not row.is_as_expected] == []


def test_what_is_not_as_expected_is_noticed():
    right = DriverRow("warp_scan", False, "", True, [], 10, 1.0, 60)
    for change in ({"problem": "no end"}, {"result": False}, {"races": ["a.cu:1 and a.cu:2"]}):
        assert not dataclasses.replace(right, **change).is_as_expected
    assert not dataclasses.replace(right, is_racy=True).is_as_expected
    for name in (*OWN_RACES, *REFUSED):
        assert not dataclasses.replace(right, name=name).is_as_expected


@pytest.mark.parametrize("name", RESULTS)
def test_another_result_is_wrong(name):
    lines = {key: " ".join(repr(float(x)) for x in row) for key, row in RESULTS[name]().items()}
    printed = "".join(f"{key} {row}\n" for key, row in lines.items())
    assert is_right(name, printed)
    first = next(iter(RESULTS[name]().values()))
    assert not is_right(name, printed.replace(repr(float(first[0])), repr(float(first[0] + 1)), 1))
    assert not is_right(name, printed + "more 1\n") or "more" in lines


@pytest.mark.campaign
@needs_compiler
@pytest.mark.parametrize("form", ROWS)
def test_drivers_of_the_table_do_as_it_says(form):
    found, kept = check_driver(*form), ROWS[form]
    assert (found.problem, found.result, found.races) == (kept.problem, kept.result, kept.races)
