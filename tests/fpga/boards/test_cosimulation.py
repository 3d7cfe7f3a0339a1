"""Whole devices at their UART pins: every report and record is the golden model's."""

import pytest

from racetrap.fpga.boards.cosimulation import (
    operation_traces,
    play,
    play_operations,
    play_programs,
    program_traces,
)
from racetrap.fpga.boards.table import board_params, find_board


@pytest.mark.campaign
def test_micro_benchmarks_at_the_pins(tmp_path):
    """On the smallest board; `make board-simulation` does it on the others, too."""
    board = find_board("ice40-hx8k")
    result = play(board, board_params(board, "scord-local"), tmp_path)
    assert result.failures == []
    assert [note["run"] for note in result.notes if not note["is_right"]] == []
    assert len(result.notes) == 32
    assert sum(note["reports"] for note in result.notes) >= 18


#: With conflicts, one after the other, and without.
_PROGRAMS = ("barrier_on_one_side", "rwlock_readers")


@pytest.mark.campaign
def test_programs_at_the_pins(tmp_path):
    board = find_board("ulx3s-85f")
    params = board_params(board, "sigrace-tiny")
    traces = program_traces(params, _PROGRAMS, seeds=[3])
    result = play_programs(board, params, tmp_path, traces)
    assert result.failures == []
    assert [note["run"] for note in result.notes] == [*_PROGRAMS, "random-3"]
    assert sum(note["records"] for note in result.notes) >= 15
    assert sum(note["traps"] for note in result.notes) >= 60


def test_operations_at_the_pins(tmp_path):
    board = find_board("ice40-hx8k")
    params = board_params(board, "noncoherent-tiny")
    result = play_operations(board, params, tmp_path, operation_traces(params, seeds=[3]))
    assert result.failures == []
    played, overload = result.notes
    assert played["operations"] == 80
    assert played["reports"] > params.report_fifo_depth
    assert overload["dropped"] >= 10
