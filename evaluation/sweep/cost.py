"""Cost of a configuration: state that is counted, and blocks that are synthesised."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from racetrap.evaluation.sweep.spec import STATE, CostSpec
from racetrap.generators.system import Params
from racetrap.generators.systems import blocks_of, system_of
from racetrap.sim.cosim.verilator.state_cache import kept_state_parts


def cost_figures(params: Params, spec: CostSpec) -> dict[str, Any]:
    """Figures by name: state bits that the method needs, and what the spec asks for.

    Raises
    ------
    DoesNotFit, MemoryLost
        If a block is not one for the family or device.
    ToolError
        If a tool fails.
    """
    system = system_of(params)
    figures: dict[str, Any] = {"state_bits": sum(system.method_bits(params).values())}
    figures |= {each.name: each.value for each in system.overheads(params)}
    if spec.elaborate:
        parts = kept_state_parts(replace(params, trace_port=False))  # as `racetrap cost` does
        figures["design_flip_flops"] = sum(part.flip_flops for part in parts)
        figures["design_memory_bits"] = sum(part.memory_bits for part in parts)
    if spec.family != STATE:
        figures |= _synthesis(params, spec)
    return figures


def tools_of(spec: CostSpec) -> dict[str, str]:
    """Versions of the tools that the figures are from.

    Raises
    ------
    ToolError
        If one is not installed.
    """
    if spec.family == STATE:
        return {}
    from racetrap.fpga.flow.families import FAMILIES
    from racetrap.fpga.flow.tools import tool_versions

    packages = FAMILIES[spec.family].packages
    return tool_versions(*(packages if spec.seeds else packages[:1]))


def _synthesis(params: Params, spec: CostSpec) -> dict[str, Any]:
    """Sums over the instances of all blocks; depth and clock are those of the worst block."""
    from racetrap.fpga.cost.measure import measured
    from racetrap.fpga.cost.table import Cost
    from racetrap.fpga.flow.families import FAMILIES

    family = FAMILIES[spec.family]
    seeds = range(1, spec.seeds + 1)
    blocks = [block for block in blocks_of(params) if block.name in spec.blocks]
    names = ("gate_equivalents", "block_ram") if family.has_area else (
        "lut", "ff", "block_ram", "dsp",
    )  # fmt: skip
    figures: dict[str, Any] = dict.fromkeys(names, 0)
    depths, clocks = [0], []
    for block in blocks:
        known = Cost(family.device.name)
        *_, made = measured(known, block, family, seeds, spec.constraint_mhz, params.macro_words)
        assert made.synthesis is not None  # it comes first
        for name in names:
            figures[name] += block.count * getattr(made.synthesis, name)
        depths.append(made.synthesis.depth or 0)
        if made.fmax:
            clocks.append(round(made.fmax.median, 1))
    if family.has_area:
        figures["gate_equivalents"] = round(figures["gate_equivalents"])
    figures["logic_depth"] = max(depths)
    if clocks:
        figures["fmax_mhz"] = min(clocks)
    return figures
