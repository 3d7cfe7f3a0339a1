"""Files of a preset: Verilog, its description, and companion files."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from racetrap.generators.description import describe
from racetrap.generators.fusesoc import core_description
from racetrap.generators.presets import (
    configuration_name,
    module_name,
    package_name,
    settings_of,
)
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of
from racetrap.golden_model.atomic_write import atomic_write_text
from racetrap.golden_model.checks import unknown_name
from racetrap.golden_model.configuration import configuration_hash

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component

#: Lint warnings on Amaranth's correct Verilog, each with the reason.
_WAIVERS = {
    "CASEINCOMPLETE": "a default is assigned before the case",
    "DECLFILENAME": "the file has the configuration's name, all its modules are inside",
    "PROCASSINIT": "flip-flops have an initial value beside their reset",
    "UNUSEDSIGNAL": "bits of intermediate results and ports that this configuration ignores",
    "WIDTHEXPAND": "operands of different width are extended, as Amaranth's rules want",
    "WIDTHTRUNC": "a logical not of a wide operand compares it with zero",
}


def generate(
    preset: str,
    params: Params,
    directory: Path | None = None,
    *,
    name: str | None = None,
    forms: Collection[str] = (),
    parts: Sequence[str] | None = None,
) -> dict[str, Path]:
    """Write the files of a configuration; the same input gives the same bytes anywhere.

    Nothing is written before the whole design has been elaborated.

    Parameters
    ----------
    preset : str
        Preset that the parameters come from.
    params : Params
        Parameters (the preset's own, or changed).
    directory : Path or None
        Folder of the files, created if missing.  By default named like the files.
    name : str or None
        Name of the files, and with ``_`` for ``-`` of the Verilog module and prefix of all others.
        By default ``configuration_name``.
    forms : collection of str
        As of ``to_verilog``.
    parts : sequence of str, optional
        Tops whose Verilog is written, the empty name being the whole system's.  By default all.

    Returns
    -------
    dict of str to Path
        ``verilog`` (.v), ``description`` (.json), ``verilator`` (.vlt: lint waivers), ``header``
        (.h: registers for C), ``manual`` (.md: registers), ``ipxact`` (.xml: registers, files),
        ``systemrdl`` (.rdl: the registers' source), ``fusesoc`` (.core), and ``verilog <part>`` for
        each part with its own top (-<part>.v); ``package`` (SystemVerilog: types of all ports),
        whose file is named like the package, as tools look for it.

    Raises
    ------
    OSError
        If a file cannot be written.
    ValueError
        If there is no such preset or part, the preset is one of another detector, or no module can
        have the name.
    """
    # Listing importable names must not need the packages for generation.
    from racetrap.generators.register_files import write_register_files
    from racetrap.generators.systemverilog_package import systemverilog_package

    system = system_of(params)
    if name is None:
        name = configuration_name(preset, params, forms)
    folder = Path(name) if directory is None else directory
    tops = ["", *system.parts] if parts is None else list(parts)
    for part in tops:
        if part and part not in system.parts:
            raise ValueError(unknown_name(f"part of {preset}", part, system.parts))
    components = _components(params)
    files = _simulated_files(preset, name, params, tops, components, forms)
    text = systemverilog_package(name, params, components)
    files["package"] = f"{package_name(name)}.sv", text
    files["fusesoc"] = f"{name}.core", core_description(name, preset, tops)
    paths = _write(files, folder)
    sources = [path.name for path in paths.values() if path.suffix in (".sv", ".v")]
    return paths | write_register_files(params, module_name(name), folder, name, sources)


def generate_simulated(
    preset: str, params: Params, directory: Path, part: str = "",
    top: Component | None = None,
) -> None:  # fmt: skip
    """Write only the files that a simulation needs, as ``generate`` does.

    Parameters
    ----------
    preset, params, directory
        As for ``generate``; the files have the preset's name, whatever the parameters.
    part : str
        Part whose Verilog is written; empty: the system's.
    top : Component or None
        What stands for the system, with its ports; None: the system.
    """
    _write(_simulated_files(preset, preset, params, [part], _components(params, top)), directory)


def _components(params: Params, top: Component | None = None) -> dict[str, Component]:
    """The whole system, or what stands for it, under the empty name, and its parts by name."""
    system = system_of(params)
    parts = {part: made(params) for part, made in system.parts.items()}
    return {"": system.top(params) if top is None else top, **parts}


def _simulated_files(
    preset: str,
    name: str,
    params: Params,
    parts: Sequence[str],
    components: Mapping[str, Component],
    forms: Collection[str] = (),
) -> dict[str, tuple[str, str]]:
    """Name and text of the Verilog of some tops, and of their companion files."""
    from racetrap.generators.verilog import to_verilog

    head = _head(preset, params, forms)
    description = describe(preset, name, params, components)
    files = {
        "description": (f"{name}.json", json.dumps(description, indent=1) + "\n"),
        "verilator": (f"{name}.vlt", _verilator_control(name)),
    }
    for part in parts:
        kind, stem = (f"verilog {part}", f"{name}-{part}") if part else ("verilog", name)
        text = to_verilog(
            components[part], module_name(name, part), forms=forms, macro_words=params.macro_words
        )
        files[kind] = f"{stem}.v", head + text
    return files


def _head(preset: str, params: Params, forms: Collection[str]) -> str:
    """First lines of the Verilog: its configuration and its licence."""
    about = metadata.metadata("racetrap")
    reset = "asynchronous" if "asynchronous-reset" in forms else "synchronous"
    lines = (
        f"Race detector {system_of(params).name}, generated by racetrap {about['Version']}.",
        f"SPDX-License-Identifier: {about['License-Expression']}",
        f"Preset: {preset}",
        f"Settings: {' '.join(settings_of(preset, params)) or 'none'}",
        f"Configuration: {configuration_hash(params):#010x}, {reset} reset",
    )
    return "".join(f"// {line}\n" for line in lines)


def _write(files: Mapping[str, tuple[str, str]], directory: Path) -> dict[str, Path]:
    directory.mkdir(parents=True, exist_ok=True)
    paths = {}
    for kind, (file, text) in files.items():
        paths[kind] = directory / file
        atomic_write_text(paths[kind], text)
    return paths


def _verilator_control(name: str) -> str:
    lines = ["`verilator_config"]
    for rule, reason in _WAIVERS.items():
        lines += [f"// {reason}", f'lint_off -rule {rule} -file "*{name}*.v"']
    return "\n".join(lines) + "\n"
