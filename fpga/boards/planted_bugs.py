"""Bugs planted in copies of the board tops: the pin-level co-simulation must find every one.

``python -m racetrap.fpga.boards.planted_bugs`` plants all of them, one after the other.
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
from types import MappingProxyType

from amaranth.lib import wiring

from racetrap.fpga import boards
from racetrap.fpga.boards.cosimulation import (
    NONCOHERENT_TESTBENCH,
    SCORD_TESTBENCH,
    SIGRACE_TESTBENCH,
    build_device,
    operation_plan,
    operation_traces,
    program_plan,
    program_traces,
)
from racetrap.fpga.boards.table import board_params, find_board
from racetrap.generators.system import Params
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.sim.cosim.verilator.build_cache import Patch
from racetrap.sim.cosim.verilator.cocotb_build import build_component
from racetrap.sim.cosim.verilator.cocotb_run import RunResult, run
from racetrap.sim.cosim.verilator.generate_rtl import use_package

__all__ = ["PLANTED_BUGS", "PlantedBug", "play_with"]

_PACKAGE = "racetrap.fpga.boards"
#: The second finds the metadata that the first has left, unless a launch clears it.
_BENCHMARKS = ("race_interwarp_none-lock_waw", "norace_interwarp_blklock_waw")
#: One small program with threads, and a random one whose conflict logs become full.
_PROGRAMS, _SEEDS = ("create_before_data",), (3,)


@dataclass(frozen=True)
class PlantedBug:
    """A plausible slip in a board's top, and the board on which it must be found.

    Parameters
    ----------
    board : str
        Name of the board.
    patch : Patch
        The slip; its file is in this folder.
    preset : str
        What the board has.
    """

    board: str
    patch: Patch
    preset: str = "scord-local"


def _bug(board: str, file: str, before: str, after: str) -> PlantedBug:
    return PlantedBug(board, Patch(file, before, after))


def _monitor_bug(file: str, before: str, after: str) -> PlantedBug:
    return PlantedBug("ice40-hx8k", Patch(file, before, after), "noncoherent-tiny")


def _sigrace_bug(before: str, after: str) -> PlantedBug:
    return PlantedBug("ulx3s-85f", Patch("sigrace_top.py", before, after), "sigrace-tiny")


PLANTED_BUGS: Mapping[str, PlantedBug] = MappingProxyType({
    # Core
    "drops-not-counted": _bug(
        "ice40-hx8k", "core_top.py", "bank.o_count[0].reports_dropped),\n            dropped.clear",
        "0),\n            dropped.clear",
    ),
    "launch-clears-nothing": _bug(
        "ice40-hx8k", "core_top.py", "bank.i_clear.eq(clear)", "bank.i_clear.eq(0)"
    ),
    "drops-not-lit": _bug(
        "ice40-hx8k", "core_top.py", "error=bank.o_count[0].reports_dropped", "error=0"
    ),
    # Whole system
    "transactions-doubled": _bug(
        "ulx3s-85f", "scord_top.py", "            assign_stream(m, transaction, record)\n",
        "            from amaranth.hdl import Signal\n"
        "            again = Signal()\n"
        "            assign_stream(m, transaction, record)\n"
        "            m.d.comb += record.ready.eq(transaction.ready & again)\n"
        "            m.d.sync += again.eq(again ^ (record.valid & transaction.ready))\n",
    ),
    "record-halves-swapped": _bug(
        "ulx3s-85f", "report_sink.py", "Cat(word[_DATA_BITS:], beats.o.payload)",
        "Cat(beats.o.payload, word[:-_DATA_BITS])",
    ),
    "record-lost-under-back-pressure": _bug(
        "ulx3s-85f", "report_sink.py", "is_whole & record.i.ready", "is_whole"
    ),
    "beats-lost-under-back-pressure": _bug(
        "ulx3s-85f", "report_sink.py", "axi.wready.eq(beats.i.ready & is_open)",
        "axi.wready.eq(is_open)",
    ),
    "channels-swapped": _bug(
        "ulx3s-85f", "scord_top.py", "zip(link.o_record, system.i_transaction, strict=True)",
        "zip(link.o_record, reversed(system.i_transaction), strict=True)",
    ),
    # SigRace
    "events-swapped": _sigrace_bug("i_event[unit], ", "i_event[units - 1 - unit], "),
    "traps-swapped": _sigrace_bug("i_record[unit], ", "i_record[units - 1 - unit], "),
    "traps-lost-under-back-pressure": _sigrace_bug(
        "            assign_stream(m, link.i_record[unit], system.o_trap[unit])\n",
        "            assign_stream(m, link.i_record[unit], system.o_trap[unit])\n"
        "            m.d.comb += system.o_trap[unit].ready.eq(1)\n",
    ),
    "rollback-not-lit": _sigrace_bug("race=system.irq", "race=0"),
    # Bus monitor
    "operations-lost-under-back-pressure": _monitor_bug(
        "noncoherent_top.py", "        assign_stream(m, system.i_operation, operations)\n",
        "        assign_stream(m, system.i_operation, operations)\n"
        "        m.d.comb += operations.ready.eq(1)\n",
    ),
    "monitor-race-not-lit": _monitor_bug("noncoherent_top.py", "race=sink.o_taken", "race=0"),
    "monitor-record-halves-swapped": _monitor_bug(
        "report_sink.py", "Cat(word[_DATA_BITS:], beats.o.payload)",
        "Cat(beats.o.payload, word[:-_DATA_BITS])",
    ),
})  # fmt: skip


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
    if isinstance(params, SigraceParams):
        plan = program_plan(folder, program_traces(params, _PROGRAMS, _SEEDS))
        return run(model, SIGRACE_TESTBENCH, folder, plan, seed=1)
    if isinstance(params, NoncoherentParams):
        plan = operation_plan(folder, operation_traces(params, _SEEDS))
        return run(model, NONCOHERENT_TESTBENCH, folder, plan, seed=1)
    plan = {"benchmarks": _BENCHMARKS, "core": board.core}
    return run(model, SCORD_TESTBENCH, folder, plan, seed=1)


def _planted(bug: PlantedBug, params: Params, divisor: int) -> wiring.Component:
    """The device of a copy of this package with the bug."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "boards")
        shutil.copytree(boards.__path__[0], copy, ignore=shutil.ignore_patterns("__pycache__"))
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
    for name, bug in PLANTED_BUGS.items():
        with tempfile.TemporaryDirectory() as folder:
            failures = play_with(bug, Path(folder)).failures
        missed += not failures
        found = str(failures[0].failure) if failures else "not found"
        print(f"{name} on {bug.board}: {found[:100]}", flush=True)
    return 3 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
