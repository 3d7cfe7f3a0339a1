"""Builds that end badly: what is said of them, and what they leave."""

import json
from pathlib import Path

import pytest

from racetrap.fpga.boards import build as module
from racetrap.fpga.boards.build import BoardError, build
from racetrap.fpga.boards.table import board_params, find_board

_BOARD = find_board("ice40-hx8k")
_PLACING = '"$NEXTPNR_ICE40" --seed 1 --report timing.json'


@pytest.fixture
def attempt(monkeypatch, tmp_path):
    """Build for the iCE40 board with tools whose last words are in ``said``."""
    monkeypatch.setattr(module, "prepare", lambda *_, seed: _Plan())

    def run(said):
        monkeypatch.setattr(module, "_run", said)
        return build(_BOARD, board_params(_BOARD, "scord-local"), tmp_path)

    return run


class _Plan:
    script = "build_racetrap"

    def extract(self, folder):
        lines = ['"$YOSYS" x', f"{_PLACING} --asc x.asc", '"$ICEPACK" y']
        Path(folder, f"{self.script}.sh").write_text("\n".join(lines))


def _tools(used, *, placing_fails=True):
    """Tools whose packed design needs so many cells; placing it fails, if it has to."""

    def run(folder, script):
        report = {
            "fmax": {"clk": {"achieved": 60.0, "constraint": 24.0}},
            "utilization": {"ICESTORM_LC": {"used": used, "available": 7680}},
        }
        is_packing = script == "pack.sh"
        if is_packing:
            (command,) = (folder / script).read_text().splitlines()
            assert command == f"{_PLACING} --pack-only"
        (folder / "racetrap.json").touch()
        if placing_fails and not is_packing:
            raise BoardError("Unable to place cell x")
        (folder / "timing.json").write_text(json.dumps(report))

    return run


def test_a_design_that_does_not_fit(attempt):
    with pytest.raises(
        BoardError,
        match=r"^Design must fit iCE40HX8K of ice40-hx8k, not need 9,094 of 7,680 ICESTORM_LC$",
    ):
        attempt(_tools(9094))


def test_a_design_that_fits_but_is_not_placed(attempt):
    with pytest.raises(BoardError, match=r"^Unable to place cell x$"):
        attempt(_tools(7000))


def test_failed_synthesis_is_not_packed(attempt, tmp_path):
    for name in ("racetrap.json", "timing.json", "racetrap.bin"):
        (tmp_path / name).write_text("of a build before")

    def run(folder, script):
        raise BoardError(f"{script} failed")

    with pytest.raises(BoardError, match=r"^build_racetrap\.sh failed$"):
        attempt(run)
    assert [path.name for path in tmp_path.iterdir()] == ["build_racetrap.sh"]


def test_figures_of_a_build(attempt):
    built = attempt(_tools(5000, placing_fails=False))
    assert built.utilization == {"ICESTORM_LC": (5000, 7680)}
    assert (built.fmax, built.constraint, built.bitstream.name) == (60.0, 24.0, "racetrap.bin")
