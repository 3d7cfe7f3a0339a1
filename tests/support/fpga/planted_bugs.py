"""Bugs planted in copies of the board tops: the pin-level co-simulation must find every one.

``python -m tests.support.fpga.planted_bugs`` plants all of them, one after the other.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from amaranth.lib import wiring

from racetrap import fpga
from racetrap.fpga.boards.table import board_params, find_board
from racetrap.generators.system import Params
from racetrap.sim.cosim.verilator.cocotb_build import build_component
from racetrap.sim.cosim.verilator.cocotb_run import RunResult
from racetrap.sim.cosim.verilator.generate_rtl import use_package
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.fpga.cosimulation import build_device, pin_test_of, play

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


def _scord(board: str, file: str, before: str, after: str) -> PlantedBug:
    return PlantedBug(board, Patch(file, before, after), "scord-local")


def _sigrace(before: str, after: str) -> PlantedBug:
    return PlantedBug("ulx3s-85f", Patch("sigrace/device.py", before, after), "sigrace-tiny")


def _noncoherent(file: str, before: str, after: str) -> PlantedBug:
    return PlantedBug("ice40-hx8k", Patch(file, before, after), "noncoherent-tiny")


#: Plausible slips that a play at the pins must find.
PLANTED_BUGS: Mapping[str, PlantedBug] = {
    # Core
    "drops-not-counted": _scord(
        "ice40-hx8k", "scord/core_device.py",
        "bank.o_count[0].reports_dropped),\n            dropped.clear",
        "0),\n            dropped.clear",
    ),
    "launch-clears-nothing": _scord(
        "ice40-hx8k", "scord/core_device.py", "bank.i_clear.eq(clear)", "bank.i_clear.eq(0)"
    ),
    "drops-not-lit": _scord(
        "ice40-hx8k", "scord/core_device.py", "error=bank.o_count[0].reports_dropped", "error=0"
    ),
    # Whole system
    "transactions-doubled": _scord(
        "ulx3s-85f", "boards/device.py", "            assign_stream(m, port, record)\n",
        "            from amaranth.hdl import Signal\n"
        "            again = Signal()\n"
        "            assign_stream(m, port, record)\n"
        "            m.d.comb += record.ready.eq(port.ready & again)\n"
        "            m.d.sync += again.eq(again ^ (record.valid & port.ready))\n",
    ),
    "record-halves-swapped": _scord(
        "ulx3s-85f", "boards/report_sink.py", "Cat(word[_DATA_BITS:], beats.o.payload)",
        "Cat(beats.o.payload, word[:-_DATA_BITS])",
    ),
    "record-lost-under-back-pressure": _scord(
        "ulx3s-85f", "boards/report_sink.py", "is_whole & record.i.ready", "is_whole"
    ),
    "beats-lost-under-back-pressure": _scord(
        "ulx3s-85f", "boards/report_sink.py", "axi.wready.eq(beats.i.ready & is_open)",
        "axi.wready.eq(is_open)",
    ),
    "channels-swapped": _scord(
        "ulx3s-85f", "boards/device.py", "zip(link.o_record, self._inputs, strict=True)",
        "zip(link.o_record, reversed(self._inputs), strict=True)",
    ),
    "sms-swapped": PlantedBug(
        "ulx3s-85f",
        Patch("gpu/device.py", "list(system.i_transaction)", "list(system.i_transaction)[::-1]"),
        "causality-tiny",
    ),
    "events-swapped": _sigrace("system.i_event[unit]", "system.i_event[units - 1 - unit]"),
    "traps-swapped": _sigrace("link.i_record[unit]", "link.i_record[units - 1 - unit]"),
    "traps-lost-under-back-pressure": _sigrace(
        "            assign_stream(m, link.i_record[unit], system.o_trap[unit])\n",
        "            assign_stream(m, link.i_record[unit], system.o_trap[unit])\n"
        "            m.d.comb += system.o_trap[unit].ready.eq(1)\n",
    ),
    "rollback-not-lit": _sigrace("race=system.irq", "race=0"),
    "operations-lost-under-back-pressure": _noncoherent(
        "boards/device.py", "            assign_stream(m, port, record)\n",
        "            assign_stream(m, port, record)\n            m.d.comb += record.ready.eq(1)\n",
    ),
    "monitor-race-not-lit": _noncoherent("boards/device.py", "race=sink.o_taken", "race=0"),
    "monitor-record-halves-swapped": _noncoherent(
        "boards/report_sink.py", "Cat(word[_DATA_BITS:], beats.o.payload)",
        "Cat(beats.o.payload, word[:-_DATA_BITS])",
    ),
}  # fmt: skip


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
    """The device of a copy of the package with the bug."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "fpga")
        shutil.copytree(fpga.__path__[0], copy, ignore=shutil.ignore_patterns("__pycache__"))
        bug.patch.apply(copy)
        with _package_of(copy):
            from racetrap.fpga.boards.board_top import device_of

            return device_of(find_board(bug.board), params, divisor)


@contextmanager
def _package_of(folder: Path) -> Iterator[None]:
    """Let imports of the package find the one in ``folder``, for a while."""
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
    for name, bug in PLANTED_BUGS.items():
        with tempfile.TemporaryDirectory() as folder:
            failures = play_with(bug, Path(folder)).failures
        missed += not failures
        found = str(failures[0].failure) if failures else "not found"
        print(f"{name} on {bug.board}: {found[:100]}", flush=True)
    return 3 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
