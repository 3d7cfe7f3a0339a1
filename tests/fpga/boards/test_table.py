"""Boards: what is said of them agrees with their platforms; constraints are written."""

import pytest

from racetrap.fpga.boards.build import prepare
from racetrap.fpga.boards.table import BOARDS, board_params, find_board
from tests.support.campaign import later_but

_EVERY = [(board, preset) for board in BOARDS.values() for preset in board.settings]
#: In `make test`, the smallest design of a board of each family.
_SMALL = {"ulx3s-85f": "sigrace-tiny", "ice40-hx8k": "noncoherent-tiny"}


@pytest.mark.parametrize("board", BOARDS.values(), ids=lambda board: board.name)
def test_board_agrees_with_its_platform(board):
    assert board.make_platform().device == board.device
    assert board.divisor * board.baud == board.clock_mhz * 1e6
    assert board.divisor >= 8
    assert len(board.lights) == 4


@pytest.mark.parametrize(
    ("board", "preset"),
    later_but(lambda each: _SMALL.get(each[0].name) == each[1], _EVERY),
    ids=lambda value: str(getattr(value, "name", value)),
)
def test_plan_has_constraints_for_every_pin(board, preset):
    plan = prepare(board, board_params(board, preset), seed=3)
    name = {"ecp5": "racetrap.lpf", "ice40": "racetrap.pcf"}[board.family]
    text = plan.files[name]
    text = text.decode() if isinstance(text, bytes) else text
    for pin in ("uart_0__rx", "uart_0__tx", board.make_platform().default_clk):
        assert pin in text
    script = plan.files["build_racetrap.sh"]
    assert "--seed 3" in (script.decode() if isinstance(script, bytes) else script)


def test_settings_of_the_user_come_last():
    board = find_board("ulx3s-85f")
    assert board_params(board, "scord-local").local_bytes == 65536
    assert board_params(board, "scord-local", ["local_bytes=8192"]).local_bytes == 8192


def test_unknown_board_is_refused():
    with pytest.raises(ValueError, match=r"Unknown board 'arty': choose ulx3s-85f, "):
        find_board("arty")


def test_metadata_must_be_on_the_chip():
    board = find_board("ulx3s-85f")
    with pytest.raises(ValueError, match="local_bytes must be positive on a board, not 0"):
        prepare(board, board_params(board, "scord-tiny"))
