"""`racetrap fpga boards` and `build`: what is asked of the build, and what is made of its end."""

import json

import pytest

from racetrap.commands import fpga_build
from racetrap.fpga.boards import build as build_module
from racetrap.fpga.boards.table import BOARDS, board_params

_BOARD = "ulx3s-85f"


def test_boards(racetrap):
    result = racetrap("fpga", "boards")
    assert result.exit_code == 0
    for name in BOARDS:
        assert f"{name} " in result.stdout
    listed = json.loads(racetrap("fpga", "boards", "--json", "-").stdout)
    assert [board["name"] for board in listed] == list(BOARDS)
    assert listed[0]["settings"] == {
        preset: list(settings) for preset, settings in BOARDS[_BOARD].settings.items()
    }


def test_build(racetrap, monkeypatch, tmp_path):
    asked = []

    def build(board, params, folder, seed):
        asked.append((board.name, params, folder, seed))
        cells = {"TRELLIS_COMB": (10, 100)}
        return build_module.BoardBuild(folder / "racetrap.bit", 51.25, 48.0, cells, seed, 2.0)

    monkeypatch.setattr(fpga_build, "build", build)
    result = racetrap(
        "fpga", "build", "scord-local", "--board", _BOARD, "--seed", 7, "--output", tmp_path,
        "--set", "outstanding=16",
    )  # fmt: skip
    assert result.exit_code == 0
    params = board_params(BOARDS[_BOARD], "scord-local", ["outstanding=16"])
    assert asked == [(_BOARD, params, tmp_path, 7)]
    assert f"scord-local on {_BOARD} (LFE5U-85F), seed 7" in result.stdout
    assert "51.2 MHz reached, 48 MHz asked for" in result.stdout


def test_folders_of_changed_configurations_are_their_own(racetrap, monkeypatch, tmp_path):
    folders = []

    def build(board, params, folder, seed):
        folders.append(folder)
        raise ValueError("It is enough")

    monkeypatch.setattr(fpga_build, "build", build)
    monkeypatch.chdir(tmp_path)
    for settings in ([], ["--set", "outstanding=16"], ["--set", "outstanding=4"]):
        racetrap("fpga", "build", "scord-local", "--board", _BOARD, *settings)
    assert folders[0] == tmp_path / "build" / "fpga" / _BOARD / "scord-local"
    assert len(set(folders)) == 3


@pytest.mark.parametrize(
    ("error", "status"), [(ValueError("It is wrong"), 2), (build_module.BoardError("It is big"), 3)]
)
def test_build_fails(racetrap, monkeypatch, tmp_path, error, status):
    def build(*_):
        raise error

    monkeypatch.setattr(fpga_build, "build", build)
    result = racetrap("fpga", "build", "scord-local", "--board", _BOARD, "--output", tmp_path)
    assert (result.exit_code, result.stderr) == (status, f"racetrap: {error}.\n")


def test_folder_that_cannot_be_made(racetrap, tmp_path):
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "sub"
    result = racetrap("fpga", "build", "scord-local", "--board", "ice40-hx8k", "--output", path)
    assert (result.exit_code, result.stderr) == (2, f"racetrap: {path}: Not a directory.\n")


def test_build_without_the_extra(racetrap, without, tmp_path):
    without("amaranth_boards")
    result = racetrap("fpga", "build", "scord-local", "--board", _BOARD, "--output", tmp_path)
    assert result.exit_code == 3
    sentence = "racetrap: `amaranth_boards` was not found: install the extra `fpga` by `"
    assert result.stderr.startswith(sentence)


def test_unknown_board(racetrap):
    result = racetrap("fpga", "build", "scord-local", "--board", "brick")
    assert result.exit_code == 2
    assert "Unknown board " in result.stderr
