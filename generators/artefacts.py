"""Files of a preset: Verilog, its description, and what goes with them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from racetrap.generators.description import describe
from racetrap.generators.fusesoc import core_description
from racetrap.generators.presets import module_name
from racetrap.generators.register_files import write_register_files
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of
from racetrap.generators.verilog import to_verilog
from racetrap.golden_model.atomic_write import atomic_write_text

__all__ = ["generate", "generate_simulated"]

#: Lint warnings that correct Verilog of Amaranth draws, each with the reason.
_WAIVERS = {
    "CASEINCOMPLETE": "a default is assigned before the case",
    "DECLFILENAME": "the file has the preset's name, all its modules are inside",
    "PROCASSINIT": "flip-flops have an initial value beside their reset",
    "UNUSEDSIGNAL": "bits of intermediate results and ports that this configuration ignores",
    "WIDTHEXPAND": "operands of different width are extended, as Amaranth's rules want",
    "WIDTHTRUNC": "a logical not of a wide operand compares it with zero",
}


def generate(
    preset: str, params: Params, directory: Path, *, asynchronous_reset: bool = False
) -> dict[str, Path]:
    """Write the files of a configuration; the same input gives the same bytes anywhere.

    Nothing is written before the whole design has been elaborated.

    Parameters
    ----------
    preset : str
        Name: of the files, and with ``_`` for ``-`` of the Verilog module.
    params : Params
        Parameters (the preset's own, or changed).
    directory : Path
        Folder of the files; made if it does not exist.
    asynchronous_reset : bool
        As of ``to_verilog``.

    Returns
    -------
    dict of str to Path
        ``verilog`` (.v), ``description`` (.json), ``verilator`` (.vlt: lint waivers), ``header``
        (.h: registers for C), ``manual`` (.md: registers), ``ipxact`` (.xml: registers),
        ``systemrdl`` (.rdl: the registers' source), ``fusesoc`` (.core), and ``verilog <part>`` for
        each part that is a top of its own (-<part>.v).

    Raises
    ------
    OSError
        If a file cannot be written.
    """
    system = system_of(params)
    files = _simulated_files(preset, params, ["", *system.parts], asynchronous_reset)
    files["fusesoc"] = f"{preset}.core", core_description(preset, system.parts)
    paths = _write(files, directory)
    return paths | write_register_files(params, module_name(preset), directory, preset)


def generate_simulated(preset: str, params: Params, directory: Path, part: str = "") -> None:
    """Write only the files that a simulation takes, as ``generate`` writes them.

    Parameters
    ----------
    preset, params, directory
        As for ``generate``.
    part : str
        Part whose Verilog is written; empty: the system's.
    """
    _write(_simulated_files(preset, params, [part]), directory)


def _simulated_files(
    preset: str, params: Params, names: Sequence[str], asynchronous_reset: bool = False
) -> dict[str, tuple[str, str]]:
    """Name and text of the Verilog of some tops, and of what goes with every top."""
    system = system_of(params)
    tops = {"": system.top(params)} | {name: part(params) for name, part in system.parts.items()}
    files = {
        "description": (
            f"{preset}.json", json.dumps(describe(preset, params, tops), indent=1) + "\n",
        ),
        "verilator": (f"{preset}.vlt", _verilator_control(preset)),
    }  # fmt: skip
    for name in names:
        kind, stem = (f"verilog {name}", f"{preset}-{name}") if name else ("verilog", preset)
        text = to_verilog(
            tops[name], module_name(preset, name), asynchronous_reset=asynchronous_reset
        )
        files[kind] = f"{stem}.v", text
    return files


def _write(files: Mapping[str, tuple[str, str]], directory: Path) -> dict[str, Path]:
    directory.mkdir(parents=True, exist_ok=True)
    paths = {}
    for kind, (file, text) in files.items():
        paths[kind] = directory / file
        atomic_write_text(paths[kind], text)
    return paths


def _verilator_control(preset: str) -> str:
    lines = ["`verilator_config"]
    for rule, reason in _WAIVERS.items():
        lines += [f"// {reason}", f'lint_off -rule {rule} -file "*{preset}*.v"']
    return "\n".join(lines) + "\n"
