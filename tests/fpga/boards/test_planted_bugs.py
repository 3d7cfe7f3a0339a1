"""The co-simulation at the pins finds bugs in a board's top; `make board-simulation` plants all."""

import pytest

from tests.support.fpga.planted_bugs import PLANTED_BUGS, play_with


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["drops-not-counted"])
def test_planted_bug_is_found(name, tmp_path):
    result = play_with(PLANTED_BUGS[name], tmp_path)
    assert len(result.failures) == 1
    assert "must be" in result.failures[0].failure
    print(f"{name}: {result.failures[0].failure}")
