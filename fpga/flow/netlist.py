"""Queries on a synthesised netlist: cells, memories, longest path.

A netlist is Yosys' JSON output; logs are not parsed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from racetrap.fpga.flow.families import Family

#: Cells of the flattened top module by name.
Cells: TypeAlias = Mapping[str, Mapping[str, Any]]


def cells_of(netlist: Mapping[str, Any]) -> Cells:
    """Cells of the module ``top`` of a netlist, without its notes about scopes."""
    cells = netlist["modules"]["top"]["cells"]
    return {name: cell for name, cell in cells.items() if cell["type"] != "$scopeinfo"}


def count_cells(cells: Cells) -> dict[str, int]:
    """Number of cells of each type, by type in alphabetical order."""
    return dict(sorted(Counter(cell["type"] for cell in cells.values()).items()))


def has_memory(cells: Cells, family: Family, name: str) -> bool:
    """Whether a memory of that dotted name is in memory cells, not in flip-flops."""
    kinds = (*family.block_rams, *family.lut_rams)
    return any(
        cell["type"].startswith(kinds) and f"{found}.".startswith(f"{name}.")
        for found, cell in cells.items()
    )


def logic_depth(cells: Cells, family: Family) -> int:
    """Levels of logic on the longest path between registers, memories and ports.

    Entering a look-up table, a gate, a carry chain or the read address of a LUT RAM counts one.
    Continuing in a carry chain counts nothing, nor do wide multiplexers inside a slice.

    Raises
    ------
    ValueError
        If the netlist has a combinational cycle.
    """
    drivers = {net: name for name, cell in cells.items() for net in _nets(cell, "output")}
    inputs = {name: list(_inputs(cell, family)) for name, cell in cells.items()}
    depth: dict[str, int] = {}
    for name in _topological(drivers, inputs):
        depth[name] = max(
            (depth[drivers[net]] + levels if net in drivers else levels
             for net, levels in inputs[name]),
            default=0,
        )  # fmt: skip
    # Register inputs are not edges of the graph, so every path's last logic cell has its full
    # depth.
    return max(depth.values(), default=0)


def _nets(cell: Mapping[str, Any], direction: str) -> Iterator[int]:
    for port, nets in cell["connections"].items():
        if cell["port_directions"][port] == direction:
            yield from (net for net in nets if isinstance(net, int))


def _inputs(cell: Mapping[str, Any], family: Family) -> Iterator[tuple[int, int]]:
    """Nets on which the cell's outputs depend combinationally, each with the levels it costs."""
    kind = cell["type"]
    if kind.startswith((*family.flip_flops, *family.block_rams, *family.dsps)):
        return
    is_lut_ram = kind.startswith(family.lut_rams)
    is_wide_mux = kind.startswith(family.wide_muxes)
    for port, nets in cell["connections"].items():
        if cell["port_directions"][port] != "input":
            continue
        if is_lut_ram and not port.startswith(family.lut_ram_addresses):
            continue
        levels = 0 if is_wide_mux or port in family.carry_inputs else 1
        yield from ((net, levels) for net in nets if isinstance(net, int))


def _topological(
    drivers: Mapping[int, str], inputs: Mapping[str, Iterable[tuple[int, int]]]
) -> Iterator[str]:
    """Cells so that each comes after those that drive it."""
    before = {
        name: {drivers[net] for net, _ in found if net in drivers} for name, found in inputs.items()
    }
    after: dict[str, list[str]] = {name: [] for name in inputs}
    for name, sources in before.items():
        for source in sources:
            after[source].append(name)
    missing = {name: len(sources) for name, sources in before.items()}
    ready = [name for name, count in missing.items() if not count]
    done = 0
    while ready:
        name = ready.pop()
        done += 1
        yield name
        for follower in after[name]:
            missing[follower] -= 1
            if not missing[follower]:
                ready.append(follower)
    if done != len(inputs):
        raise ValueError(
            f"Netlist has a combinational cycle: {len(inputs) - done} cells lie on it or behind it"
        )
