"""Blocks of an elaborated design and the wires between them, as a block diagram shows them.

Read off Amaranth's own netlist, of ``structure.netlist_of``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from amaranth.hdl._nir import ModuleNetFlow, Net, Netlist

#: Name of what is around the module, at either end of a link.
OUTSIDE = ""
#: Ends of names of ports without which a diagram says more: clock, reset, the way back of a stream.
_NOT_SHOWN = ("clk", "rst", "ready")


@dataclass(frozen=True, order=True)
class Link:
    """Wires straight from one block to another, without logic between.

    Parameters
    ----------
    source, target : str
        Names of the blocks; ``OUTSIDE`` for the ports of the module.
    is_stream : bool
        Whether they are a stream or a channel of a bus: whether a ``valid`` is among them.
    """

    source: str
    target: str
    is_stream: bool


@dataclass(frozen=True)
class Diagram:
    """Blocks of a module, in elaboration order, and the links between them."""

    blocks: tuple[str, ...]
    links: tuple[Link, ...]


def block_diagram(netlist: Netlist, path: str = "top") -> Diagram:
    """Submodules of the module at ``path`` of a design, and the links between them.

    Parameters
    ----------
    netlist : Netlist
        The elaborated design.
    path : str
        Dotted path of the module, as in ``state_bits``.

    Raises
    ------
    ValueError
        If the design has no such module.
    """
    paths = [".".join(module.name) for module in netlist.modules]
    if path not in paths:
        raise ValueError(f"Path must be that of a module, not {path}")
    number = paths.index(path)
    blocks = netlist.modules[number].submodules
    drivers = {
        net: (netlist.modules[block].name[-1], name)
        for block in blocks
        for name, net in _ports(netlist, block, ModuleNetFlow.Output)
    }
    drivers |= {net: (OUTSIDE, name) for name, net in _ports(netlist, number, ModuleNetFlow.Input)}
    sinks = [
        (net, netlist.modules[block].name[-1])
        for block in blocks
        for _, net in _ports(netlist, block, ModuleNetFlow.Input)
    ]
    sinks += [(net, OUTSIDE) for _, net in _ports(netlist, number, ModuleNetFlow.Output)]
    wires = {(*drivers[net], target) for net, target in sinks if net in drivers}
    streams = {(source, target) for source, name, target in wires if name.endswith("valid")}
    links = {
        Link(source, target, (source, target) in streams)
        for source, name, target in wires
        if not name.endswith(_NOT_SHOWN) and source != target
    }
    return Diagram(tuple(netlist.modules[block].name[-1] for block in blocks), tuple(sorted(links)))


def _ports(netlist: Netlist, number: int, flow: ModuleNetFlow) -> Iterator[tuple[str, Net]]:
    """Nets of the ports of a module in one direction; constants are not distinguished."""
    module = netlist.modules[number]
    for name, (value, direction) in module.ports.items():
        if direction is flow:
            yield from ((name, net) for net in value if not net.is_const)
