"""Verilated shared libraries of generated systems, cached by content."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from racetrap.generators.register_map import RegisterMap
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of
from racetrap.sim.content_cache import cache_folder
from racetrap.sim.cosim.fast.harness import Harness
from racetrap.sim.cosim.fast.ports import ports_header
from racetrap.sim.cosim.fast.top import TOP, top_module
from racetrap.sim.cosim.verilator.build_cache import (
    BACK_DOORS,
    COMPRESSION,
    MAKE_FAST,
    ONE_PIECE,
    SHARED_LIBRARY,
    WITHOUT_LIBRARIES,
    are_quick,
    build_key,
    build_once,
    generate_rtl,
    make_model,
    run_tool,
)
from racetrap.sim.cosim.verilator.mutants import (
    MUTANTS_SOURCES,
    MUTATED,
    SELECTOR,
    MutantDraw,
    make_mutants,
)
from racetrap.sim.cosim.verilator.patch import Patch
from racetrap.sim.twins import HEADER, header_of

#: Sources that all libraries share.
_SOURCES = (
    "axi_memory.h", "testbench.h", "ports.py", "top.py", "folding.py", "harness.py", "build.py",
)  # fmt: skip
#: The library is built for speed; unreset state gets random values at run time (`--x-initial
#: unique`).
_VERILATE = (*SHARED_LIBRARY, "--x-initial", "unique")
_WAVES = ("--trace-fst", *COMPRESSION, "-CFLAGS", "-DWAVES")
#: Size of a model's C++ below which compiling it in parts on two cores is not faster.
_SMALL_BYTES = 3 << 20
#: Size of a model's C++ above which optimisation takes longer than all its simulation.
_LARGE_BYTES = 80 << 20


P = TypeVar("P", bound=Params)


@dataclass(frozen=True)
class FastModel(Generic[P]):
    """A system as a shared library.

    Parameters
    ----------
    preset : str
        Name of the preset.
    params : Params
        Its parameters.
    folder : Path
        Folder of the build.
    registers : RegisterMap
        Addresses and fields of its registers.
    mutant : int
        Number of the mutant that simulations run, of a build with mutants; 0: none.
    places : object or None
        Which parts are there, if some are not; known to who asked for the build.
    """

    preset: str
    params: P
    folder: Path
    registers: RegisterMap
    mutant: int = 0
    places: Any = None

    @property
    def library(self) -> Path:
        """The shared library."""
        return self.folder / "libsystem.so"


def build_fast(
    preset: str, params: P, patch: Patch | None = None, mutants: MutantDraw | None = None
) -> FastModel[P]:
    """Shared library of a system of any detector, built or found in the cache.

    Parameters, result and errors as for ``build_library``, with the detector's harness.
    """
    harness = system_of(params).own("sim.cosim", "fast_harness").HARNESS
    return build_library(preset, params, harness, patch, mutants)


def build_library(
    preset: str, params: P, harness: Harness, patch: Patch | None = None,
    mutants: MutantDraw | None = None, part: str = "", has_waves: bool = False,
) -> FastModel[P]:  # fmt: skip
    """Generate, Verilate and compile a system, or find it in the cache.

    The first build of a configuration takes half a minute to a minute.

    Parameters
    ----------
    preset : str
        Name of the preset; it names the module.
    params : Params
        Parameters (the preset's own, or changed); the trace port is required.
    harness : Harness
        The detector's part of the library.
    patch : Patch or None
        Bug to plant in a copy of the RTL.
    mutants : MutantDraw or None
        Mutants to build beside the design, of which ``FastModel.mutant`` selects one.
    part : str
        What to build instead of the whole system, with its ports, as for ``generate_rtl``.
    has_waves : bool
        Whether it can write waves; it simulates slower.

    Raises
    ------
    BuildError
        If generation, Verilator or the C++ compiler fails.
    ValueError
        If the configuration has no trace port.
    """
    if not params.trace_port:
        raise ValueError("Parameter trace_port must be true for co-simulation, not False")
    here = Path(__file__).parent
    sources = [*(here / name for name in _SOURCES), *harness.sources]
    sources += [] if mutants is None else MUTANTS_SOURCES
    options = (
        asdict(params), patch and asdict(patch), _VERILATE, MAKE_FAST, header_of(harness.twins),
        mutants and asdict(mutants), part, has_waves,
    )  # fmt: skip
    key = build_key(preset, *options, files=sources)
    folder = cache_folder() / "fast" / f"{preset}-{key}"
    build_once(
        folder,
        lambda unfinished: _compile(
            preset, params, unfinished, harness, patch, mutants, part, has_waves
        ),
    )
    description = json.loads((folder / f"{preset}.json").read_text(encoding="utf-8"))
    return FastModel(preset, params, folder, RegisterMap(description["registers"]))


def _counters(harness: Harness, registers: RegisterMap) -> list[str]:
    """Counters that the shim may change, in the order of their addresses."""
    names = registers.counters if harness.counters else ()
    return [f"{harness.counters}.{name.lower()}_count" for name in names]


def _compile(
    preset: str, params: Params, folder: Path, harness: Harness, patch: Patch | None,
    mutants: MutantDraw | None, part: str, has_waves: bool,
) -> None:  # fmt: skip
    generate_rtl(preset, params, folder, part, patch)
    description = json.loads((folder / f"{preset}.json").read_text(encoding="utf-8"))
    ports, source, rewrite = description["ports"], f"{preset}.v", harness.rewrite
    if mutants is not None:
        # A clock that stops because of the design's own outputs would hide mutants.
        source, rewrite = MUTATED, harness.rewrite_least
        width = make_mutants(preset, folder, mutants)
        ports |= {SELECTOR: {"direction": "input", "width": width}}
    widths = {name: port["width"] for name, port in ports.items()}
    header = ports_header(
        TOP, widths, harness.ports(params), harness.constants(params), harness.internals(params),
        harness.instances(params), _counters(harness, RegisterMap(description["registers"])),
    )  # fmt: skip
    (folder / "ports.h").write_text(header, encoding="utf-8")
    (folder / HEADER).write_text(header_of(harness.twins), encoding="utf-8")
    top = top_module(description["module"], ports)
    (folder / f"{TOP}.v").write_text(top, encoding="utf-8")
    simulated = rewrite((folder / source).read_text(encoding="utf-8"), params)
    (folder / f"fast-{preset}.v").write_text(simulated, encoding="utf-8")
    for path in (*sorted(Path(__file__).parent.glob("*.h")), *harness.native):
        shutil.copy(path, folder)
    include = f"-I{folder.resolve()}"
    run_tool(
        ["verilator", *_VERILATE, *(_WAVES if has_waves else ()), "-CFLAGS", include,
         "--top", TOP, "-Mdir", "obj", f"{preset}.vlt", BACK_DOORS, f"fast-{preset}.v",
         f"{TOP}.v", "shim.cpp", "-o", "libsystem.so"],
        folder,
    )  # fmt: skip
    written = sum(path.stat().st_size for path in (folder / "obj").glob("*.cpp"))
    one_piece = [ONE_PIECE] if written < _SMALL_BYTES else []
    speed = "-O1" if are_quick() else "-O2" if written < _LARGE_BYTES else "-O0"
    options = [*one_piece, f"OPT_FAST={speed}", *MAKE_FAST]
    options += ["VM_TRACE=1", WITHOUT_LIBRARIES] if has_waves else []
    make_model(folder / "obj", f"V{TOP}", options)
    # The linker writes in pieces; a file written at once is contiguous in the page cache, and code
    # larger than the CPU caches then runs a quarter faster.
    shutil.copyfile(folder / "obj" / "libsystem.so", folder / "libsystem.so")
