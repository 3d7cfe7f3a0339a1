"""The RVFI tap against its model on random instructions, and planted bugs."""

import pytest

from tests.support.noncoherent.taps.benches import rvfi_found_and_due
from tests.support.noncoherent.taps.planted_bugs import RVFI_TAP_BUGS
from tests.support.noncoherent.taps.system import (
    PARAMS,
    module_of,
)
from tests.support.planted_bugs import one_for_each_file


def _found_and_due(bug):
    return rvfi_found_and_due(module_of("rvfi_tap", bug).RvfiTap(PARAMS))


def test_operations_are_those_of_the_model():
    found, due = _found_and_due(None)
    assert found == due
    assert {len(group) for group in due} == {0, 1, 2}


@pytest.mark.parametrize(
    "name", one_for_each_file({name: bug.file for name, bug in RVFI_TAP_BUGS.items()})
)
def test_planted_bug_is_found(name):
    found, due = _found_and_due(RVFI_TAP_BUGS[name])
    assert found != due
