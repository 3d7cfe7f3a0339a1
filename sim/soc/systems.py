"""Example systems by name, verilated; their cores come from packages of others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from racetrap.golden_model.noncoherent.taps.rvfi_tap import RETIRED_LAYOUT
from racetrap.rtl.soc import params as soc
from racetrap.rtl.soc.picorv32_system import Picorv32System
from racetrap.sim.failure import Failure
from racetrap.sim.soc.build import Design, build_program, definitions, places

#: Place of the arguments of the firmware's ``main``; its stack grows down from there.
ARGUMENTS = soc.LOCAL_BYTES - 0x1000
#: Word that says which call's maintenance and waits the firmware does without; 0: none.
LEFT_OUT = soc.LOCAL_BYTES - 4
#: Largest delay of the engine before a command, in cycles; one less than a power of two.
_DELAY = 1023
_SETTLE_CYCLES = 2000
#: The monitor's register CONTROL, and what its software outside writes there.
_CONTROL = 0x40
_CLEAR, _ENABLE = 0x300, 1
_WORD_BITS = 32

#: Packages with the cores' Verilog, by system.
CORES = {"picorv32": ("pythondata_cpu_picorv32", "verilog/picorv32.v")}


def core_source(system: str) -> Path:
    """Verilog of a system's core.

    Raises
    ------
    Failure
        If its package is not installed.
    """
    package, file = CORES[system]
    found = find_spec(package)
    if found is None or found.origin is None:
        name = package.replace("_", "-")
        raise Failure(f"Package {name} is missing: install the extra soc (pip install '.[soc]')")
    return Path(found.origin).parent / file


def build_system(
    system: str, params: soc.SocParams, *, has_waves: bool = False,
    make: Callable[[soc.SocParams], Any] = Picorv32System, bug: str = "",
) -> Path:  # fmt: skip
    """The program that runs firmware on a system; see ``harness.cpp`` for its command line.

    Parameters
    ----------
    system : str
        Name of the system.
    params : SocParams
        Its parameters.
    has_waves : bool
        Whether the program can write waves.
    make, bug : callable, str
        Another top, and its name, to plant a bug.

    Raises
    ------
    Failure
        If a package is missing, or a tool fails.
    """
    monitor = params.taps.monitor
    constants = (
        *places("RETIRED", RETIRED_LAYOUT),
        *places("STEP", monitor.step_layout),
        *definitions([
            ("OPERATION_WORDS", -(-monitor.operation_layout.width // _WORD_BITS)),
            ("STEP_WORDS", -(-monitor.step_layout.width // _WORD_BITS)),
            ("LOCAL_BASE", soc.LOCAL_BASE), ("LOCAL_BYTES", soc.LOCAL_BYTES),
            ("MEMORY_BASE", soc.MEMORY_BASE), ("MEMORY_BYTES", soc.MEMORY_BYTES),
            ("ARGUMENTS", ARGUMENTS), ("CONTROL_REGISTER", _CONTROL),
            ("CONTROL_CLEAR", _CLEAR), ("CONTROL_ENABLE", _ENABLE),
            ("SETTLE_CYCLES", _SETTLE_CYCLES), ("DELAY_MASK", _DELAY),
        ]),
    )  # fmt: skip
    return build_program(
        Design(
            "picorv32_system", lambda: make(params),
            Path(__file__).with_name("harness.cpp"), constants, (core_source(system),), has_waves,
            key=(asdict(params), bug),
        )
    )  # fmt: skip
