"""The examples of the manual on the host client run as they are, on virtual boards."""

import re

import pytest

from racetrap.fpga.boards.table import board_params, find_board
from tests.support import REPOSITORY
from tests.support.fpga.sigrace_device import sigrace_device
from tests.support.fpga.virtual_device import on_terminal, scord_device

ROOT = REPOSITORY
EXAMPLES = re.findall(
    r"```python\n(.*?)```", (ROOT / "docs" / "host-client.md").read_text(), re.DOTALL
)


@pytest.mark.parametrize(
    ("example", "preset", "device", "printed"),
    [
        (EXAMPLES[0], "scord-local", scord_device, r".* 1\nBoard and golden model agree\.\n"),
        (EXAMPLES[1], "sigrace-tiny", sigrace_device, r"[1-9]\d* [1-9]\d* [1-9]\d*\n"),
    ],
    ids=["scord", "sigrace"],
)
def test_example_runs(example, preset, device, printed, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    board = device(board_params(find_board("ulx3s-85f"), preset))
    with on_terminal(board.receive) as port:
        exec(compile(example.replace("/dev/ttyUSB0", port), "host-client.md", "exec"), {})
    assert re.fullmatch(printed, capsys.readouterr().out)


def test_every_example_is_run():
    assert len(EXAMPLES) == 2
