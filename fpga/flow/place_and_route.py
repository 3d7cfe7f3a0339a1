"""Place and route of one block over several seeds; figures are from the tool's JSON report."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from amaranth.lib import wiring

from racetrap.fpga.flow.families import Family
from racetrap.fpga.flow.fit import shortage
from racetrap.fpga.flow.synthesis import (
    TOOLCHAIN,
    check_memories,
    synthesis_script,
    write_netlist,
)
from racetrap.fpga.flow.tools import ToolError, run_tool, tool_versions
from racetrap.fpga.flow.wrapper import ShiftWrapper
from racetrap.generators.structure import memory_bits
from racetrap.generators.verilog import to_verilog
from racetrap.sim.content_cache import keep_json
from racetrap.sim.failure import DoesNotFit

_REPORT = "report.json"


@dataclass(frozen=True)
class PlacedBlock:
    """A block between shift registers, placed and routed with one seed.

    Parameters
    ----------
    seed : int
        Seed of the placer.
    fmax_mhz : float
        Highest clock frequency in MHz.
    utilization : dict of str to int
        Cells used by type, including those of the shift registers.
    critical_path : list of str
        The path that limits the clock, one string per step: delay in nanoseconds, kind, from, to.
    constraint_mhz : float
        Required frequency in MHz.
    device : str
        Part, package and speed grade.
    seconds : float
        Time of place and route, when it was run.
    """

    seed: int
    fmax_mhz: float
    utilization: dict[str, int]
    critical_path: list[str]
    constraint_mhz: float
    device: str
    seconds: float


def place_and_route(
    component: wiring.Component,
    family: Family,
    seeds: Sequence[int],
    folder: Path,
    *,
    constraint_mhz: float,
    macro_words: int = 0,
) -> list[PlacedBlock]:
    """Place and route a block between shift registers, once for each seed.

    The reset is a pin and its paths are not timed; it must last for several cycles.  Results are
    cached by content, separately for each seed.

    Parameters
    ----------
    component : wiring.Component
        The block.
    family : Family
        Target, with its device.
    seeds : sequence of int
        Seeds of the placer.
    folder : Path
        Working folder of the tools, created if missing.
    constraint_mhz : float
        Target frequency in MHz; missing it is a result, not an error.
    macro_words : int
        Words from which its arrays are SRAM macros, as of ``to_verilog``.

    Raises
    ------
    ValueError
        If the family has no place and route.
    MemoryLost
        If synthesis turned a memory into flip-flops.
    DoesNotFit
        If the block, with its shift registers, needs more than the device has.
    ToolError
        If a tool is missing or fails for another reason.
    """
    if family.place_tool is None:
        raise ValueError(f"Family must be one with place and route, not {family.name}")
    kept = {} if macro_words else memory_bits(component)
    memories = {f"block.{name}": bits for name, bits in kept.items()}
    text = to_verilog(ShiftWrapper(component), "top", macro_words=macro_words)
    content = {
        "step": "place and route", "verilog": text, "script": synthesis_script(family),
        "versions": tool_versions(*TOOLCHAIN, *family.packages),
        "arguments": family.device.arguments, "constraint": constraint_mhz,
        "reader": Path(__file__).read_text(encoding="utf-8"),
    }  # fmt: skip
    netlist: Path | None = None

    def make(seed: int) -> dict[str, Any]:
        nonlocal netlist
        if netlist is None:
            netlist = write_netlist(text, family, folder)
            check_memories(netlist, family, memories)
        return asdict(_place(netlist, family, seed, constraint_mhz))

    return [
        PlacedBlock(**keep_json("flow", {**content, "seed": seed}, partial(make, seed)))
        for seed in seeds
    ]


def _place(netlist: Path, family: Family, seed: int, constraint_mhz: float) -> PlacedBlock:
    start = time.monotonic()
    options = ["--freq", f"{constraint_mhz:g}", "--seed", str(seed), "--timing-allow-fail"]
    try:
        report = _report(netlist, family, options)
    except ToolError:
        # Packing alone decides whether resources were lacking.
        if missing := shortage(_report(netlist, family, ["--pack-only"])["utilization"]):
            raise DoesNotFit(
                f"Block and its shift registers do not fit {family.device.name}: "
                f"they need {missing}"
            ) from None
        raise
    seconds = time.monotonic() - start
    clock, figures = min(report["fmax"].items(), key=lambda found: found[1]["achieved"])
    return PlacedBlock(
        seed=seed,
        fmax_mhz=round(figures["achieved"], 2),
        utilization={kind: n["used"] for kind, n in report["utilization"].items() if n["used"]},
        critical_path=_critical_path(report, clock),
        constraint_mhz=constraint_mhz,
        device=family.device.name,
        seconds=round(seconds, 2),
    )


def _report(netlist: Path, family: Family, options: Sequence[str]) -> dict[str, Any]:
    """Run place and route; return its report."""
    assert family.place_tool is not None  # checked before
    run_tool(
        family.place_tool,
        ["-q", *family.device.arguments, "--json", netlist.name, "--report", _REPORT, *options],
        netlist.parent,
    )
    return json.loads((netlist.parent / _REPORT).read_text(encoding="utf-8"))


def _critical_path(report: dict[str, Any], clock: str) -> list[str]:
    """Steps of the path from register to register of that clock."""
    edge = f"posedge {clock}"
    for path in report["critical_paths"]:
        if path["from"] == path["to"] == edge:
            return [
                f"{step['delay']:.2f} ns {step['type']} {_pin(step['from'])} -> {_pin(step['to'])}"
                for step in path["path"]
            ]
    return []


def _pin(end: dict[str, str]) -> str:
    return f"{end['cell']}.{end['port']}"
