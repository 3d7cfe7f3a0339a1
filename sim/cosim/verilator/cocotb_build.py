"""Verilator builds of a generated system, or of a part of one, for cocotb, cached by content.

cocotb's own runner makes every signal of the design public, which prevents most optimisation; this
build makes only the ports of the testbench module public.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import cocotb_tools.config
from amaranth.lib import wiring

from racetrap.generators.description import describe_ports
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of
from racetrap.generators.verilog import to_verilog
from racetrap.golden_model.checks import unknown_name
from racetrap.sim.content_cache import cache_folder
from racetrap.sim.cosim.verilator import build_cache, testbench_top
from racetrap.sim.cosim.verilator.build_cache import (
    BACK_DOORS,
    COMPRESSION,
    ONE_PIECE,
    WITHOUT_LIBRARIES,
    are_quick,
    build_once,
    generate_rtl,
    make_model,
    run_tool,
)
from racetrap.sim.cosim.verilator.patch import Patch
from racetrap.sim.cosim.verilator.testbench_top import TESTBENCH_MODULE, Port, TestbenchTop
from racetrap.sim.cosim.verilator.wave_views import WaveView, views_of, views_verilog

_VERILATE = (
    "--cc", "--exe", "--vpi", "-O3", "--x-assign", "fast", "--x-initial", "fast", "-Wno-fatal",
)  # fmt: skip
#: Python dominates a cocotb run, so the compiler's time weighs more than the model's speed.
_OPTIMISATION = ("OPT_SLOW=-O0", "OPT_GLOBAL=-O2")


@dataclass(frozen=True)
class Waves:
    """Waves of a simulation.

    Parameters
    ----------
    form : str
        Form of the file, ``fst`` or ``vcd``.
    has_all : bool
        Record every signal of the design, not only the testbench's ports and their fields.
    """

    form: str
    has_all: bool = False


@dataclass(frozen=True)
class BuiltModel:
    """A simulator executable that waits for a cocotb test.

    Parameters
    ----------
    preset : str
        Name of the preset.
    params : Params
        Its parameters.
    folder : Path
        Folder of the build; ``<preset>.v`` and ``<preset>.json`` are in it.
    waves : Waves or None
        Waves that the executable can write.
    part : str
        Part that is simulated alone; empty: the whole system.
    """

    preset: str
    params: Params
    folder: Path
    waves: Waves | None
    part: str = ""

    @property
    def executable(self) -> Path:
        return self.folder / "obj" / TESTBENCH_MODULE

    @property
    def description(self) -> dict:
        """The generator's description of ports, layouts and registers."""
        return json.loads((self.folder / f"{self.preset}.json").read_text(encoding="utf-8"))

    @property
    def views(self) -> list[WaveView]:
        """Packed ports that waves show field by field; none for a part or another top."""
        if self.part:
            return []
        return views_of(self.description, system_of(self.params))

    @property
    def facts(self) -> dict:
        """Facts of the build that a testbench needs."""
        return {
            "preset": self.preset,
            "system": system_of(self.params).name,
            "params": asdict(self.params),
            "testbench": json.loads((self.folder / "testbench.json").read_text(encoding="utf-8")),
            "registers": self.description["registers"],
        }


def build(
    preset: str,
    params: Params,
    *,
    waves: Waves | None = None,
    patch: Patch | None = None,
    part: str = "",
) -> BuiltModel:
    """Generate and Verilate a system, or a part of it, or find it in the cache.

    Parameters
    ----------
    preset : str
        Name of the preset; it names the module.
    params : Params
        Parameters (the preset's own, or changed).
    waves : Waves or None
        Waves that the executable must be able to write.
    patch : Patch or None
        Bug to plant in a copy of the RTL.
    part : str
        Part with its own top; empty: the whole system.

    Raises
    ------
    ValueError
        If the system has no such part.
    BuildError
        If generation, Verilator or the C++ compiler fails.
    """
    parts = system_of(params).parts
    if part and part not in parts:
        raise ValueError(unknown_name(f"part of {preset}", part, parts))
    name = f"{preset}-{part}" if part else preset
    key = build_key(name, asdict(params), waves and asdict(waves), patch and asdict(patch))
    folder = cache_folder() / "verilator" / f"{name}-{key}"
    model = BuiltModel(preset, params, folder, waves, part)

    def make(unfinished: Path) -> None:
        begun = replace(model, folder=unfinished)
        generate_rtl(preset, params, unfinished, part, patch)
        _verilate(begun)

    build_once(folder, make)
    return model


def build_component(model: BuiltModel, component: Callable[[], wiring.Component]) -> None:
    """Verilate a component without a preset, unless the model's folder has it already.

    Parameters
    ----------
    model : BuiltModel
        The model to make; its ``preset`` names the module, its folder is keyed by all inputs of the
        build.
    component : callable
        Makes the component.

    Raises
    ------
    BuildError
        If Verilator or the C++ compiler fails.
    """
    module = model.preset

    def make(folder: Path) -> None:
        top = component()
        description = {"module": module, "ports": describe_ports(top)}
        (folder / f"{module}.v").write_text(to_verilog(top, module), encoding="utf-8")
        (folder / f"{module}.json").write_text(json.dumps(description), encoding="utf-8")
        _verilate(replace(model, folder=folder))

    build_once(model.folder, make)


def build_key(*options: object, files: Iterable[Path] = ()) -> str:
    """Hash of everything that a build for cocotb depends on; as ``build_cache.build_key``."""
    here = Path(__file__)
    sources = [here, Path(testbench_top.__file__), here.with_name("wave_views.py"), *files]
    return build_cache.build_key(str(cocotb_tools.config.libs_dir), *options, files=sources)


def _verilate(model: BuiltModel) -> None:
    """Make the executable from the Verilog and the description in the model's folder."""
    folder, preset = model.folder, model.preset
    description = model.description
    source = f"{preset}.v"
    if model.part:
        description, source = description["parts"][model.part], f"{preset}-{model.part}.v"
    ports = {
        name: Port(port["direction"], port["width"]) for name, port in description["ports"].items()
    }
    top = TestbenchTop(description["module"], ports)
    views: str = ""
    instances: list[str] = []
    control = list(top.public())
    if model.waves is not None:
        views, instances = views_verilog(model.views)
        control += [] if model.waves.has_all else [f'tracing_off -file "*{source}"']
    (folder / "testbench.v").write_text(views + top.verilog(instances), encoding="utf-8")
    (folder / "testbench.vlt").write_text("\n".join([*control, ""]), encoding="utf-8")
    facts = {
        "flags": dict(top.flags.fields),
        "bundles": {name: dict(layout.fields) for name, layout in top.bundles.items()},
    }
    (folder / "testbench.json").write_text(json.dumps(facts), encoding="utf-8")
    libraries = cocotb_tools.config.libs_dir
    main = Path(cocotb_tools.config.share_dir) / "lib" / "verilator" / "verilator.cpp"
    controls = [name for name in (f"{preset}.vlt", BACK_DOORS) if (folder / name).exists()]
    run_tool(
        [
            "verilator", *_VERILATE, *(_wave_options(model.waves) if model.waves else []),
            "--top-module", TESTBENCH_MODULE, "--prefix", "Vtop", "-Mdir", "obj",
            "-o", TESTBENCH_MODULE,
            "-LDFLAGS", f"-Wl,-rpath,{libraries} -L{libraries} -lcocotbvpi_verilator",
            "testbench.vlt", *controls, "testbench.v", source, str(main),
        ],
        folder,
    )  # fmt: skip
    speed = "OPT_FAST=-O0" if are_quick() else "OPT_FAST=-O1"
    options = [f"VM_TRACE={int(bool(model.waves))}", ONE_PIECE, speed, *_OPTIMISATION]
    if model.waves is not None and model.waves.form == "fst":
        options.append(WITHOUT_LIBRARIES)
    make_model(folder / "obj", "Vtop", options)


def _wave_options(waves: Waves) -> list[str]:
    return [f"--trace-{waves.form}", *COMPRESSION]
