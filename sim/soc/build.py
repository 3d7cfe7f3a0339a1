"""Verilated programs around a component, cached by content."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from racetrap.generators.verilog import to_verilog
from racetrap.golden_model.layout import Layout
from racetrap.sim.content_cache import cache_folder
from racetrap.sim.cosim.fast.ports import member_name
from racetrap.sim.cosim.verilator.build_cache import (
    COMPRESSION,
    MAKE_FAST,
    ONE_PIECE,
    WITHOUT_LIBRARIES,
    build_key,
    build_once,
    make_model,
    run_tool,
)

_VERILATE = (
    "--cc", "--exe", "-O3", "--x-assign", "fast", "--x-initial", "unique", "-Wno-fatal",
    "--no-timing", "-CFLAGS", "-std=c++20",
)  # fmt: skip
_MAKE = ("OPT_FAST=-O2", *MAKE_FAST)
_WAVES = ("--trace-fst", *COMPRESSION, "-CFLAGS", "-DWAVES")
_PORT = re.compile(r"\w+__\w+")


@dataclass(frozen=True)
class Design:
    """What is verilated.

    Parameters
    ----------
    name : str
        Name of the module and of the program.
    top : callable
        Makes the component; called only if there is no build yet.
    harness : Path
        C++ with the program's ``main``, which includes ``constants.h``.
    constants : tuple of str
        Lines of that header.
    others : tuple of (str, str)
        Files of modules that are not ours: name, and Verilog.
    has_waves : bool
        Whether the harness can write waves.
    key : tuple of object
        What else the component depends on.
    """

    name: str
    top: Callable[[], Any]
    harness: Path
    constants: tuple[str, ...] = ()
    others: tuple[tuple[str, str], ...] = ()
    has_waves: bool = False
    key: tuple[object, ...] = ()


def build_program(design: Design) -> Path:
    """The program, built or found in the cache; the first build takes about a minute.

    Raises
    ------
    BuildError
        If generation, Verilator or the C++ compiler fails.
    """
    options = (
        design.name, design.constants, design.others, design.has_waves, _VERILATE, _MAKE,
        *design.key,
    )  # fmt: skip
    key = build_key(*options, files=(Path(__file__), design.harness))
    folder = cache_folder() / "soc" / f"{design.name}-{key}"
    build_once(folder, lambda unfinished: _compile(design, unfinished))
    return folder / design.name


def definitions(values: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    """Lines of a C header that define numbers."""
    return tuple(f"#define {name} {value:#x}u" for name, value in values)


def places(prefix: str, layout: Layout, base: int = 0) -> tuple[str, ...]:
    """Lines that define where the fields of a layout are: ``PREFIX_FIELD_AT`` and ``_BITS``."""
    lines: list[str] = []
    for name, shape in layout.fields.items():
        full, at = f"{prefix}_{name.upper()}", base + layout.offset(name)
        if isinstance(shape, Layout):
            lines += places(full, shape, at)
        else:
            lines += definitions([(f"{full}_AT", at), (f"{full}_BITS", shape)])
    return tuple(lines)


def _compile(design: Design, folder: Path) -> None:
    text = to_verilog(design.top(), design.name)
    (folder / f"{design.name}.v").write_text(text, encoding="utf-8")
    header = text.partition(f"module {design.name}(")[2].partition(");")[0]
    ports = (f"#define {name} {member_name(name)}" for name in sorted(set(_PORT.findall(header))))
    (folder / "constants.h").write_text("\n".join((*design.constants, *ports, "")), "utf-8")
    shutil.copy(design.harness, folder / "harness.cpp")
    for file, verilog in design.others:
        (folder / file).write_text(verilog, encoding="utf-8")
    waves = _WAVES if design.has_waves else ()
    run_tool(
        ["verilator", *_VERILATE, *waves, "+define+RISCV_FORMAL", "-CFLAGS",
         f"-I{folder.resolve()}", "--top", design.name, "-Mdir", "obj", f"{design.name}.v",
         *(file for file, _ in design.others), "harness.cpp", "-o", design.name],
        folder,
    )  # fmt: skip
    options = ["VM_TRACE=1", WITHOUT_LIBRARIES] if design.has_waves else []
    make_model(folder / "obj", f"V{design.name}", [ONE_PIECE, *_MAKE, *options])
    shutil.copy(folder / "obj" / design.name, folder / design.name)
