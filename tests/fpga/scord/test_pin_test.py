"""The whole device at its UART pins: every report is the golden model's."""

import pytest

from racetrap.fpga.boards.table import board_params, find_board
from tests.support.fpga.cosimulation import build_device, pin_test_of, play


@pytest.mark.campaign
def test_micro_benchmarks_at_the_pins(tmp_path):
    """On the smallest board; `make board-simulation` does it on the others, too."""
    board = find_board("ice40-hx8k")
    params = board_params(board, "scord-local")
    test = pin_test_of(params)
    plan = test.plan(board, params, tmp_path)
    result = play(build_device(board, params), plan, tmp_path)
    assert result.failures == []
    assert [note["run"] for note in result.notes if not note["is_right"]] == []
    assert len(result.notes) == test.notes(plan) == 32
    assert sum(note["reports"] for note in result.notes) >= 18
