"""Combinational paths through an elaborated design, in Amaranth's own netlist."""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl._nir import Net, Netlist
from amaranth.lib import wiring

from racetrap.generators.structure import netlist_of


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
