"""From a preset to files: Verilog, its description, and what goes with them."""

from __future__ import annotations

import json
from pathlib import Path

from amaranth.back import verilog

from racetrap.generators.description import describe
from racetrap.generators.presets import module_name
from racetrap.generators.register_files import write_header, write_manual
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.system import ScordSystem

__all__ = ["generate"]

#: Lint warnings that correct Verilog of Amaranth draws, each with the reason.
_WAIVERS = {
    "CASEINCOMPLETE": "a default is assigned before the case",
    "DECLFILENAME": "the file has the preset's name, all its modules are inside",
    "PROCASSINIT": "flip-flops have an initial value beside their reset",
    "UNUSEDSIGNAL": "bits of intermediate results and ports that this configuration ignores",
    "WIDTHEXPAND": "operands of different width are extended, as Amaranth's rules want",
    "WIDTHTRUNC": "a logical not of a wide operand compares it with zero",
}


def generate(preset: str, params: ScordParams, directory: Path) -> dict[str, Path]:
    """Write the files of a configuration; the same input gives the same bytes anywhere.

    Nothing is written before the whole design has been elaborated.

    Parameters
    ----------
    preset : str
        Name: of the files, and with ``_`` for ``-`` of the Verilog module.
    params : ScordParams
        Parameters (the preset's own, or changed).
    directory : Path
        Folder of the files; made if it does not exist.

    Returns
    -------
    dict of str to Path
        ``verilog`` (.v), ``description`` (.json), ``verilator`` (.vlt: lint waivers), ``header``
        (.h: registers for C), ``manual`` (.md: registers).

    Raises
    ------
    OSError
        If a file cannot be written.
    """
    system = ScordSystem(params)
    texts = {
        "verilog": verilog.convert(
            system, name=module_name(preset), emit_src=False, strip_internal_attrs=True
        ),
        "description": json.dumps(describe(preset, params, system), indent=1) + "\n",
        "verilator": _verilator_control(preset),
    }
    suffixes = {"verilog": "v", "description": "json", "verilator": "vlt"}
    directory.mkdir(parents=True, exist_ok=True)
    paths = {kind: directory / f"{preset}.{suffix}" for kind, suffix in suffixes.items()}
    for kind, path in paths.items():
        path.write_text(texts[kind], encoding="utf-8")
    paths |= {"header": directory / f"{preset}.h", "manual": directory / f"{preset}.md"}
    write_header(paths["header"])
    write_manual(paths["manual"])
    return paths


def _verilator_control(preset: str) -> str:
    lines = ["`verilator_config"]
    for rule, reason in _WAIVERS.items():
        lines += [f"// {reason}", f'lint_off -rule {rule} -file "*{preset}.v"']
    return "\n".join(lines) + "\n"
