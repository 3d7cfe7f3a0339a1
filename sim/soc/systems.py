"""Example systems by name, verilated; their cores come from packages of others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from racetrap.generators.presets import with_all_settings
from racetrap.golden_model.noncoherent.taps.rvfi_tap import RETIRED_LAYOUT
from racetrap.rtl.soc import params as soc
from racetrap.rtl.soc import picorv32_system, vexriscv_system
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


@dataclass(frozen=True)
class ExampleSystem:
    """A system around a core of others.

    Parameters
    ----------
    package, file : str
        Package with the core's Verilog, and the file in it.
    top : callable
        Makes the system.
    params : SocParams
        Parameters of the system as it is.
    adapt : callable
        Changes the core's Verilog.
    has_own_cache : bool
        Whether the cache is the core's, and stays as it is.
    """

    package: str
    file: str
    top: Callable[[soc.SocParams], Any]
    params: soc.SocParams
    adapt: Callable[[str], str] = str
    has_own_cache: bool = False

    def params_with(self, settings: Iterable[str]) -> soc.SocParams:
        """Parameters of the system with settings of its cache, as ``name=value``.

        Raises
        ------
        ValueError
            If a setting is wrong, or the cache is the core's own.
        """
        given = list(settings)
        if given and self.has_own_cache:
            raise ValueError(f"Setting {given[0]} is of picorv32's cache: this core has its own")
        (cache,) = with_all_settings(given, self.params.cache)
        return replace(self.params, cache=cache)

    def core(self) -> str:
        """Verilog of the core.

        Raises
        ------
        Failure
            If its package is not installed, or is not the one that the system is made for.
        """
        found, name = find_spec(self.package), self.package.replace("_", "-")
        if found is None or found.origin is None:
            raise Failure(
                f"Package {name} is missing: install the extra soc (pip install '.[soc]')"
            )
        text = (Path(found.origin).parent / self.file).read_text(encoding="utf-8")
        try:
            return self.adapt(text)
        except ValueError as error:
            raise Failure(
                f"Package {name} must be that of the extra soc (pip install '.[soc]'): {error}"
            ) from None


#: Systems by name.
SYSTEMS = {
    "picorv32": ExampleSystem(
        "pythondata_cpu_picorv32", "verilog/picorv32.v", picorv32_system.Picorv32System,
        picorv32_system.PARAMS,
    ),
    "vexriscv": ExampleSystem(
        "pythondata_cpu_vexriscv", "verilog/VexRiscv.v", vexriscv_system.VexriscvSystem,
        vexriscv_system.PARAMS, vexriscv_system.core_with_ports, has_own_cache=True,
    ),
}  # fmt: skip


def build_system(
    system: str, params: soc.SocParams, *, has_waves: bool = False,
    other: ExampleSystem | None = None, bug: str = "",
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
    other, bug : ExampleSystem or None, str
        Another system in its place, and its name, to plant a bug.

    Raises
    ------
    Failure
        If a package is missing, or a tool fails.
    """
    monitor, found = params.taps.monitor, other or SYSTEMS[system]
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
            "soc_system", lambda: found.top(params),
            Path(__file__).with_name("harness.cpp"), constants, ((f"{system}.v", found.core()),),
            has_waves, key=(asdict(params), bug),
        )
    )  # fmt: skip
