"""State bits of an elaborated design.

They are counted in Amaranth's own netlist.  That netlist is internal to Amaranth
(``amaranth.hdl._ir``, ``amaranth.hdl._nir``), whose version is pinned exactly; only this module and
``distinct_modules`` depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from amaranth.hdl import Fragment
from amaranth.hdl._ir import build_netlist
from amaranth.hdl._nir import Cell, FlipFlop, Instance, Memory, Netlist
from amaranth.lib import wiring

from racetrap.generators.distinct_modules import distinct_modules, ports_of


@dataclass(frozen=True)
class StateBits:
    """State of a module, in bits.

    Parameters
    ----------
    flip_flops : int
        Bits in flip-flops, before synthesis removes unused ones.
    memory_bits : int
        Bits in memories; a port's output register is part of the memory and not counted.
    """

    flip_flops: int = 0
    memory_bits: int = 0

    def __add__(self, other: StateBits) -> StateBits:
        return StateBits(self.flip_flops + other.flip_flops, self.memory_bits + other.memory_bits)


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
