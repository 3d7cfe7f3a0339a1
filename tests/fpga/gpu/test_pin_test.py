"""Whole devices at their UART pins: every report is the golden model's."""

import pytest

from racetrap.fpga.boards.table import board_params, find_board
from tests.support.fpga.cosimulation import build_device, pin_test_of, play


@pytest.mark.campaign
@pytest.mark.parametrize("preset", ["causality-tiny", "hirace-tiny"])
def test_random_trace_at_the_pins(preset, tmp_path):
    """`make board-simulation` plays micro-benchmarks and more random traces."""
    board = find_board("ulx3s-85f")
    params = board_params(board, preset)
    plan = pin_test_of(params).short_plan(board, params, tmp_path)
    result = play(build_device(board, params), plan, tmp_path)
    assert result.failures == []
    assert [note["run"] for note in result.notes] == ["random-0"]
    assert result.notes[0]["reports"] > params.report_fifo_depth
