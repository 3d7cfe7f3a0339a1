"""Times of commands: of calls that have succeeded."""

import pytest

from racetrap.cli import cli
from racetrap.evaluation.throughput.commands import COMMANDS, times_of


def test_every_command_is_there():
    for words in COMMANDS.values():
        first = words.split()[0]
        assert first.startswith("-") or first in cli.lines


def test_times(tmp_path):
    wall, cpu = times_of(["--version"], tmp_path)
    assert wall > 0
    assert cpu > 0


def test_call_that_fails(tmp_path):
    with pytest.raises(RuntimeError, match=r"check none.trace must succeed, not say racetrap: "):
        times_of(["check", "none.trace"], tmp_path)
