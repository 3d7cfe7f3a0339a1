"""Bugs planted in copies of the board tops: the pin-level co-simulation must find every one.

``python -m racetrap.fpga.boards.planted_bugs`` plants all of them, one after the other.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from amaranth.lib import wiring

from racetrap import fpga
from racetrap.fpga.boards.cosimulation import build_device, pin_test_of, play
from racetrap.fpga.boards.table import board_params, find_board
from racetrap.generators.system import Params
from racetrap.generators.systems import SYSTEMS
from racetrap.sim.cosim.verilator.cocotb_build import build_component
from racetrap.sim.cosim.verilator.cocotb_run import RunResult
from racetrap.sim.cosim.verilator.generate_rtl import use_package
from racetrap.sim.cosim.verilator.patch import Patch

_PACKAGE = "racetrap.fpga"


@dataclass(frozen=True)
class PlantedBug:
    """A plausible slip in a board's top, and the board on which it must be found.

    Parameters
    ----------
    board : str
        Name of the board.
    patch : Patch
        The slip; its file is below the package ``fpga``.
    preset : str
        What the board has.
    """

    board: str
    patch: Patch
    preset: str


def planted_bugs() -> dict[str, PlantedBug]:
    """Bugs of all detectors by name."""
    return {
        name: bug
        for system in SYSTEMS
        if system.has("fpga", "planted_bugs")
        for name, bug in system.own("fpga", "planted_bugs").PLANTED_BUGS.items()
    }


def play_with(bug: PlantedBug, folder: Path) -> RunResult:
    """Play some of what a board's device is for on one with a bug.

    Parameters
    ----------
    bug : PlantedBug
        The bug.
    folder : Path
        Folder of log and notes.

    Raises
    ------
    BuildError
        If Verilator or the C++ compiler fails.
    SimulationError
        If the simulator crashes or stalls.
    """
    board = find_board(bug.board)
    params = board_params(board, bug.preset)
    good = build_device(board, params)
    key = hashlib.sha256(json.dumps(asdict(bug)).encode()).hexdigest()[:16]
    model = replace(good, folder=good.folder.with_name(f"{good.folder.name}-{key}"))
    build_component(model, lambda: _planted(bug, params, model.facts["divisor"]))
    return play(model, pin_test_of(params).short_plan(board, params, folder), folder)


def _planted(bug: PlantedBug, params: Params, divisor: int) -> wiring.Component:
    """The device of a copy of this package with the bug."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "fpga")
        shutil.copytree(fpga.__path__[0], copy, ignore=shutil.ignore_patterns("__pycache__"))
        bug.patch.apply(copy)
        with _package_of(copy):
            from racetrap.fpga.boards.board_top import device_of

            return device_of(find_board(bug.board), params, divisor)


@contextmanager
def _package_of(folder: Path) -> Iterator[None]:
    """Let imports of this package find the one in ``folder``, for a while."""
    ours = {name: module for name, module in sys.modules.items() if name.startswith(_PACKAGE)}
    try:
        for name in ours:
            del sys.modules[name]
        use_package(_PACKAGE, folder)
        yield
    finally:
        for name in [name for name in sys.modules if name.startswith(_PACKAGE)]:
            del sys.modules[name]
        sys.modules.update(ours)


def main() -> int:
    """Plant all bugs; 0 if every one is found, 3 if not."""
    missed = 0
    for name, bug in planted_bugs().items():
        with tempfile.TemporaryDirectory() as folder:
            failures = play_with(bug, Path(folder)).failures
        missed += not failures
        found = str(failures[0].failure) if failures else "not found"
        print(f"{name} on {bug.board}: {found[:100]}", flush=True)
    return 3 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
