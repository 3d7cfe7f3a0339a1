"""Whole devices at their UART pins: every report and record is the golden model's."""

import pytest

from racetrap.fpga.boards.cosimulation import play, play_programs
from racetrap.fpga.boards.table import board_params, find_board


@pytest.mark.parametrize("name", ["ulx3s-85f", "ice40-hx8k"])
def test_micro_benchmarks_at_the_pins(name, tmp_path):
    board = find_board(name)
    result = play(board, board_params(board, "scord-local"), tmp_path)
    assert result.failures == []
    assert [note["run"] for note in result.notes if not note["is_right"]] == []
    assert len(result.notes) == 32
    assert sum(note["reports"] for note in result.notes) >= 18


#: Of each class of synchronisation one, with one conflict or several, and some without.
_PROGRAMS = (
    "unaligned_word", "atomic_relaxed_spin_lock", "barrier_on_one_side", "condition_after_data",
    "create_before_data", "mutex_left_out", "rwlock_readers", "semaphore_of_two",
)  # fmt: skip


def test_programs_at_the_pins(tmp_path):
    board = find_board("ulx3s-85f")
    result = play_programs(board, board_params(board, "sigrace-tiny"), tmp_path, _PROGRAMS)
    assert result.failures == []
    assert [note["run"] for note in result.notes] == list(_PROGRAMS)
    assert sum(note["records"] for note in result.notes) >= 7
    assert sum(note["traps"] for note in result.notes) >= 20
