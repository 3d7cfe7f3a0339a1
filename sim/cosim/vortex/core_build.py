"""Shared library of the Verilated Vortex core, cached by content."""

from __future__ import annotations

import shutil
from pathlib import Path

from racetrap.sim.content_cache import cache_folder, content_key
from racetrap.sim.cosim.verilator.build_cache import MAKE_FAST, build_once, make_model, run_tool
from racetrap.sim.cosim.vortex.package import vortex_source

_HERE = Path(__file__).parent
_SOURCES = ("vortex_core.sv", "core.cpp", "core_pins.h")
_TOP = "vortex_core"
_VERILATE = (
    "--cc", "--exe", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert",
    "-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-UNOPTFLAT", "--no-timing",
    "-CFLAGS", "-fPIC -fno-gnu-unique", "-LDFLAGS", "-shared",
)  # fmt: skip
_MAKE = ("OPT_FAST=-O1", *MAKE_FAST)


def build_core() -> Path:
    """Library of the core, built or found in the cache: one for any number of instances.

    Raises
    ------
    VortexMissing
        If the package with the core is not installed.
    BuildError
        If Verilator or the C++ compiler fails.
    """
    source = vortex_source()
    files = [_HERE / name for name in _SOURCES]
    key = content_key(_VERILATE, _MAKE, files=[source, *files, Path(__file__)])
    folder = cache_folder() / "fast" / f"vortex-core-{key}"

    def make(unfinished: Path) -> None:
        for file in files:
            shutil.copy(file, unfinished)
        include = f"-I{unfinished.resolve()}"
        run_tool(
            ["verilator", *_VERILATE, "-CFLAGS", include, "--top", _TOP, "-Mdir", "obj",
             "vortex_core.sv", str(source), "core.cpp", "-o", "libcore.so"],
            unfinished,
        )  # fmt: skip
        make_model(unfinished / "obj", f"V{_TOP}", _MAKE)
        shutil.copyfile(unfinished / "obj" / "libcore.so", unfinished / "libcore.so")

    build_once(folder, make)
    return folder / "libcore.so"
