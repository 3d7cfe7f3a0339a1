"""Builds with tools that only leave files: what fits, and what becomes of the rest."""

import json
from pathlib import Path

import pytest

from racetrap.fpga.boards import build as build_module
from racetrap.fpga.boards.build import BoardError, build
from racetrap.fpga.boards.table import find_board

_BOARD = find_board("ulx3s-85f")


class _Plan:
    script = "build"

    def extract(self, folder):
        Path(folder, "build.sh").touch()


@pytest.fixture
def tools(monkeypatch):
    """Runs of tools, and what they leave."""
    left = {
        "cells.json": {"design": {"num_cells_by_type": {"LUT4": 10, "DP16KD": 2}}},
        "timing.json": {
            "fmax": {"clk": {"achieved": 60.0, "constraint": 48.0}},
            "utilization": {"TRELLIS_COMB": {"used": 12, "available": 83640}},
        },
    }
    runs = []

    def run(folder, script, tools):
        runs.append({name for name, tool in tools.items() if tool != "true"})
        for name, data in left.items():
            Path(folder, name).write_text(json.dumps(data))
        Path(folder, "racetrap.bit").touch()

    monkeypatch.setattr(build_module, "_run", run)
    monkeypatch.setattr(build_module, "prepare", lambda *_, **__: _Plan())
    return left, runs


def test_files_come_when_all_is_well(tools, tmp_path):
    _, runs = tools
    built = build(_BOARD, None, tmp_path / "out", seed=4)
    assert (built.fmax, built.constraint, built.seed) == (60.0, 48.0, 4)
    assert built.utilization == {"TRELLIS_COMB": (12, 83640)}
    assert built.bitstream.is_file()
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"build.sh", "cells.json", "timing.json", "racetrap.bit"}
    assert runs == [{"YOSYS"}, {"NEXTPNR_ECP5", "NEXTPNR_ICE40", "ECPPACK", "ICEPACK"}]


@pytest.mark.parametrize(
    ("cells", "needs"),
    [
        ({"LUT4": 83_640, "CCU2C": 1}, "83,642 of 83,640 LUT"),
        ({"TRELLIS_DPR16X4": 14_000}, "84,000 of 83,640 LUT"),
        ({"TRELLIS_FF": 90_000, "DP16KD": 300}, "90,000 of 83,640 FF and 300 of 208 block RAM"),
    ],
)
def test_what_does_not_fit_is_refused_before_it_is_placed(tools, tmp_path, cells, needs):
    left, runs = tools
    left["cells.json"]["design"]["num_cells_by_type"] = cells
    with pytest.raises(BoardError) as error:
        build(_BOARD, None, tmp_path)
    assert str(error.value) == f"Design must fit into LFE5U-85F of ulx3s-85f, not need {needs}"
    assert runs == [{"YOSYS"}]
    assert list(tmp_path.iterdir()) == []


def test_a_missed_clock_leaves_no_file(tools, tmp_path):
    left, _ = tools
    left["timing.json"]["fmax"]["clk"]["achieved"] = 40.0
    with pytest.raises(BoardError, match=r"must be at most 40\.0 MHz with seed 1, not 48 MHz"):
        build(_BOARD, None, tmp_path)
    assert list(tmp_path.iterdir()) == []
