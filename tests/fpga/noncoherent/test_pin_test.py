"""The whole device at its UART pins: every report and counter is the golden model's."""

import pytest

from racetrap.fpga.boards.table import board_params, find_board
from tests.support.fpga import cosimulation
from tests.support.fpga.cosimulation import build_device, pin_test_of, play


def test_an_interrupt_is_one_sentence(monkeypatch, capsys):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cosimulation, "build_device", stop)
    with pytest.raises(SystemExit) as end:
        cosimulation.main("ice40-hx8k", "noncoherent-tiny")
    assert (end.value.code, capsys.readouterr().err) == (130, "racetrap: Interrupted.\n")


@pytest.mark.campaign
def test_operations_at_the_pins(tmp_path):
    board = find_board("ice40-hx8k")
    params = board_params(board, "noncoherent-tiny")
    test = pin_test_of(params)
    plan = test.short_plan(board, params, tmp_path)
    result = play(build_device(board, params), plan, tmp_path)
    assert result.failures == []
    assert len(result.notes) == test.notes(plan)
    played, overload = result.notes
    assert played["operations"] == 80
    assert played["reports"] > params.report_fifo_depth
    assert overload["dropped"] >= 10
