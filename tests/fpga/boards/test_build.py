"""Builds with tools that only leave files: what fits, what is said of the rest, what is left."""

import json
from pathlib import Path

import pytest

from racetrap.fpga.boards import build as module
from racetrap.fpga.boards.build import BoardError, build
from racetrap.fpga.boards.table import board_params, find_board

_BOARD = find_board("ice40-hx8k")
_PLACING = '"$NEXTPNR_ICE40" --seed 1 --report timing.json'
_SCRIPT = "build_racetrap.sh"


class _Plan:
    script = "build_racetrap"

    def extract(self, folder):
        lines = ['"$YOSYS" x', f"{_PLACING} --asc x.asc", '"$ICEPACK" y']
        Path(folder, _SCRIPT).write_text("\n".join(lines))


class _Tools:
    """Tools whose packed design needs so many cells."""

    def __init__(self, used, *, fmax=60.0, fails=None):
        self.runs = []
        self._fmax, self._fails = fmax, fails
        self._cells = {"ICESTORM_LC": {"used": used, "available": 7680}}

    def __call__(self, folder, script, tools):
        wanted = {name for name, tool in tools.items() if tool != "true"}
        step = "packing" if script == "pack.sh" else "synthesis" if "YOSYS" in wanted else "placing"
        self.runs.append(step)
        if step == self._fails:
            raise BoardError(f"{step} failed")
        if step == "packing":
            (command,) = (folder / script).read_text().splitlines()
            assert command == f"{_PLACING} --pack-only"
        if step == "placing":
            (folder / "racetrap.bin").touch()
        clock = {"achieved": self._fmax, "constraint": 24.0}
        report = {"fmax": {"clk": clock}, "utilization": self._cells}
        (folder / "timing.json").write_text(json.dumps(report))


@pytest.fixture
def attempt(monkeypatch, tmp_path):
    """Build for the iCE40 board with such tools."""
    monkeypatch.setattr(module, "prepare", lambda *_, seed: _Plan())

    def run(tools):
        monkeypatch.setattr(module, "_run", tools)
        return build(_BOARD, board_params(_BOARD, "scord-local"), tmp_path, seed=4)

    return run


def test_figures_and_files_of_a_build(attempt, tmp_path):
    tools = _Tools(5000)
    built = attempt(tools)
    assert built.utilization == {"ICESTORM_LC": (5000, 7680)}
    assert (built.fmax, built.constraint, built.seed) == (60.0, 24.0, 4)
    assert built.bitstream == tmp_path / "racetrap.bin"
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {_SCRIPT, "pack.sh", "timing.json", "racetrap.bin"}
    assert tools.runs == ["synthesis", "packing", "placing"]


@pytest.mark.parametrize(
    ("tools", "message", "runs"),
    [
        (
            _Tools(9094),
            r"^Design does not fit iCE40HX8K of ice40-hx8k: it needs 9,094 of 7,680 ICESTORM_LC$",
            2,
        ),
        (_Tools(7000, fails="placing"), "^placing failed$", 3),
        (_Tools(7000, fails="synthesis"), "^synthesis failed$", 1),
        (
            _Tools(7000, fmax=20.0),
            r"^Clock of ice40-hx8k must be at most 20\.0 MHz with seed 4, not 24 MHz$",
            3,
        ),
    ],
)
def test_a_build_that_fails_leaves_no_new_file(attempt, tmp_path, tools, message, runs):
    (tmp_path / "racetrap.bin").write_text("of a build before")
    with pytest.raises(BoardError, match=message):
        attempt(tools)
    assert len(tools.runs) == runs
    assert [path.name for path in tmp_path.iterdir()] == ["racetrap.bin"]
    assert (tmp_path / "racetrap.bin").read_text() == "of a build before"
