"""Questions about the structure of an elaborated design: combinational paths and state bits.

Both are answered on Amaranth's own netlist.  That netlist is internal to Amaranth
(``amaranth.hdl._ir``, ``amaranth.hdl._nir``), whose version is pinned exactly; this module,
``distinct_modules`` and ``hierarchy`` are the only ones that know it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from amaranth.hdl import Fragment
from amaranth.hdl._ir import build_netlist
from amaranth.hdl._nir import Cell, FlipFlop, Instance, Memory, Net, Netlist
from amaranth.lib import wiring

from racetrap.generators.distinct_modules import distinct_modules, ports_of


@dataclass(frozen=True)
class StateBits:
    """State of a module, in bits.

    Parameters
    ----------
    flip_flops : int
        Bits in flip-flops, before synthesis drops those that nothing reads.
    memory_bits : int
        Bits in memories; a port's output register is part of the memory and not counted.
    """

    flip_flops: int = 0
    memory_bits: int = 0

    def __add__(self, other: StateBits) -> StateBits:
        return StateBits(self.flip_flops + other.flip_flops, self.memory_bits + other.memory_bits)


def valid_to_ready_paths(component: wiring.Component) -> list[tuple[str, str]]:
    """Combinational paths from a ``valid`` input of the component to a ``ready`` output.

    A path is structural: it is reported even if no values of the other signals let a change
    through.  Foreign instances are taken to have no combinational path inside.

    Parameters
    ----------
    component : wiring.Component
        Design whose ports are looked at; stream and AXI ports alike.

    Returns
    -------
    list of (str, str)
        Input and output port of each path, as named in Verilog.
    """
    netlist = netlist_of(component)
    valids = [name for name in netlist.top.ports_i if name.endswith("valid")]
    sources = {
        Net.from_cell(0, netlist.top.ports_i[name][0]): 1 << number
        for number, name in enumerate(valids)
    }
    reached: dict[Net, int] = {}
    paths = []
    for ready, nets in sorted(netlist.top.ports_o.items()):
        if ready.endswith("ready"):
            found = 0
            for net in nets:
                found |= _sources_of(netlist, net, sources, reached)
            paths += [(name, ready) for number, name in enumerate(valids) if found >> number & 1]
    return paths


def state_bits(component: wiring.Component) -> dict[str, StateBits]:
    """State of each module of the component, without its submodules'.

    Parameters
    ----------
    component : wiring.Component
        Design whose state is counted.

    Returns
    -------
    dict of str to StateBits
        By dotted path from ``top``, in elaboration order; modules without state are left out.
    """
    bits: dict[str, StateBits] = {}
    for path, cells in _cells_by_module(component):
        total = StateBits()
        for cell in cells:
            if isinstance(cell, FlipFlop):
                total += StateBits(flip_flops=len(cell.data))
            elif isinstance(cell, Memory):
                total += StateBits(memory_bits=cell.width * cell.depth)
        if total != StateBits():
            bits[path] = total
    return bits


def memory_bits(component: wiring.Component) -> dict[str, int]:
    """Bits of each memory of the component, by dotted path from below ``top``."""
    return {
        f"{path}.{cell.name}".partition(".")[2]: cell.width * cell.depth
        for path, cells in _cells_by_module(component)
        for cell in cells
        if isinstance(cell, Memory)
    }


def total_state(bits: Mapping[str, StateBits], path: str = "top") -> StateBits:
    """State of the module at ``path`` with all its submodules, from ``state_bits``."""
    inside = (part for name, part in bits.items() if f"{name}.".startswith(f"{path}."))
    return sum(inside, start=StateBits())


def netlist_of(component: wiring.Component) -> Netlist:
    """Netlist of a component with the ports of its signature, named as in Verilog."""
    return build_netlist(Fragment.get(component, platform=None), ports=ports_of(component))


def _cells_by_module(component: wiring.Component) -> Iterator[tuple[str, list[Cell]]]:
    """Path of every module from ``top``, and its cells; equal components are elaborated once."""
    designs = distinct_modules(component, "top").values()
    modules = {design.hierarchy[0]: _cells_of(build_netlist(design)) for design in designs}

    def within(path: str, name: str) -> Iterator[tuple[str, list[Cell]]]:
        for inner, cells in modules[name]:
            here = ".".join((path, *inner))
            yield here, cells
            for cell in cells:
                if isinstance(cell, Instance) and cell.type in modules:
                    yield from within(f"{here}.{cell.name}", cell.type)

    return within("top", "top")


def _cells_of(netlist: Netlist) -> list[tuple[tuple[str, ...], list[Cell]]]:
    """Path of each module below the netlist's top, and its cells."""
    return [
        (module.name[1:], [netlist.cells[index] for index in module.cells])
        for module in netlist.modules
    ]


def _sources_of(
    netlist: Netlist, net: Net, sources: Mapping[Net, int], reached: dict[Net, int]
) -> int:
    """Set (as bits) of the ``sources`` that reach ``net``; ``reached`` remembers all nets.

    Amaranth's check for combinational cycles has walked the same edges, so this recursion
    ends, and is no deeper.
    """
    if net.is_const or net.cell == 0:
        return sources.get(net, 0)
    if net not in reached:
        found = 0
        for edge, _ in netlist.cells[net.cell].comb_edges_to(net.bit):
            found |= _sources_of(netlist, edge, sources, reached)
        reached[net] = found
    return reached[net]
