"""Whole devices at their UART pins: all micro-benchmarks, reports equal to the golden model's."""

import pytest

from racetrap.fpga.boards.cosimulation import play
from racetrap.fpga.boards.table import board_params, find_board


@pytest.mark.parametrize("name", ["ulx3s-85f", "ice40-hx8k"])
def test_micro_benchmarks_at_the_pins(name, tmp_path):
    board = find_board(name)
    result = play(board, board_params(board, "scord-local"), tmp_path)
    assert result.failures == []
    assert [note["run"] for note in result.notes if not note["is_right"]] == []
    assert len(result.notes) == 32
    assert sum(note["reports"] for note in result.notes) >= 18
