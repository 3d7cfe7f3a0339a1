"""The whole device at its UART pins: every record is the golden model's."""

import pytest

from racetrap.fpga.boards.table import board_params, find_board
from tests.support.fpga.cosimulation import build_device, pin_test_of, play
from tests.support.fpga.sigrace_pin_test import program_plan, program_traces

#: With conflicts, one after the other, and without.
_PROGRAMS = ("barrier_on_one_side", "rwlock_readers")


@pytest.mark.campaign
def test_programs_at_the_pins(tmp_path):
    board = find_board("ulx3s-85f")
    params = board_params(board, "sigrace-tiny")
    plan = program_plan(tmp_path, program_traces(params, _PROGRAMS, seeds=[3]))
    result = play(build_device(board, params), plan, tmp_path)
    assert result.failures == []
    assert [note["run"] for note in result.notes] == [*_PROGRAMS, "random-3"]
    assert len(result.notes) == pin_test_of(params).notes(plan)
    assert sum(note["records"] for note in result.notes) >= 15
    assert sum(note["traps"] for note in result.notes) >= 60
