"""The generated header through which a C++ shim reaches a Verilated design's ports.

It holds only types, numbers and references, taken from the description of the generated Verilog;
all behaviour is in hand-written C++.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from racetrap.sim.cosim.verilator.mutants import SELECTOR

#: Signals of an AXI4 port that writes.
AXI_WRITE = (
    "awid", "awaddr", "awlen", "awsize", "awburst", "awlock", "awcache", "awprot", "awvalid",
    "awready", "wdata", "wstrb", "wlast", "wvalid", "wready", "bid", "bresp", "bvalid", "bready",
)  # fmt: skip
_LITE_SIGNALS = (
    "awaddr", "awvalid", "awready", "wdata", "wstrb", "wvalid", "wready", "bresp", "bvalid",
    "bready", "araddr", "arvalid", "arready", "rdata", "rresp", "rvalid", "rready",
)  # fmt: skip

_HEADER = """\
// Generated: the ports of {top} as the shim names them.

#pragma once

#include <cstdint>
#include <cstring>

#include "V{top}.h"
#include "V{top}__Syms.h"
#include "V{top}___024root.h"

using Top = V{top};
{constants}
template <class T> void load(T& port, const uint32_t* words) {{
    uint64_t value = words[0];
    if (sizeof(T) > 4) value |= uint64_t(words[1]) << 32;
    port = T(value);
}}
template <std::size_t N> void load(VlWide<N>& port, const uint32_t* words) {{
    std::memcpy(port.data(), words, 4 * N);
}}
template <class T> void store(const T& port, uint32_t* words) {{
    words[0] = uint32_t(port);
    if (sizeof(T) > 4) words[1] = uint32_t(uint64_t(port) >> 32);
}}
template <std::size_t N> void store(const VlWide<N>& port, uint32_t* words) {{
    std::memcpy(words, port.data(), 4 * N);
}}
struct InstanceMemory {{
    const void* data;
    std::size_t bytes;
}};

"""


@dataclass(frozen=True)
class PortGroup:
    """Ports that belong together: one bus, or an array of equal ones.

    Parameters
    ----------
    struct, member : str
        Name of the C++ struct, and of its instance or array in ``Ports``.
    prefix : str
        Prefix of the Verilog names; ``{}`` stands for the index in an array.
    signals : tuple of str
        Suffixes of the names; empty: the prefix is the name of a single port, the struct's
        ``value``.
    count : int or None
        Length of the array, which may be 0; None: a single bus.
    """

    struct: str
    member: str
    prefix: str
    signals: tuple[str, ...] = ()
    count: int | None = None


@dataclass(frozen=True)
class Internals:
    """Registers inside the system that the shim may change: the same ones in several instances.

    Parameters
    ----------
    struct, member : str
        Name of the C++ struct, and of its array in ``Ports``.
    path : str
        Instances from the system's top down, with dots between; ``{}`` stands for the index.
    widths : mapping of str to (str, int)
        For each member of the struct, the register's name in Verilog, and its bits.
    count : int
        Length of the array, which may be 0.
    there : collection of int or None
        Instances that are there, for others there is memory of no use; None: all.
    """

    struct: str
    member: str
    path: str
    widths: Mapping[str, tuple[str, int]]
    count: int
    there: Collection[int] | None = None

    @property
    def declaration(self) -> str:
        """The struct, of references."""
        fields = [f"    {_type(width)}& {name};" for name, (_, width) in self.widths.items()]
        return "\n".join([f"struct {self.struct} {{", *fields, "};", ""])

    def instance(self, top: str) -> str:
        """The array in ``Ports``."""
        if not self.count:
            return f"    {self.struct}* {self.member} = nullptr;"
        items = ", ".join(self._references(top, index) for index in range(self.count))
        array = f"    {self.struct} {self.member}[{self.count}] = {{{items}}};"
        absent = [
            f"    {_type(width)} absent_{self.member}_{name} = 0;"
            for name, (_, width) in self.widths.items() if self.there is not None
        ]  # fmt: skip
        return "\n".join([*absent, array])

    def _references(self, top: str, index: int) -> str:
        if self.there is not None and index not in self.there:
            return "{" + ", ".join(f"absent_{self.member}_{name}" for name in self.widths) + "}"
        path = _instance_path(top, self.path, index)
        names = (f"top.rootp->{path}__DOT__{member_name(name)}" for name, _ in self.widths.values())
        return "{" + ", ".join(names) + "}"


@dataclass(frozen=True)
class Instances:
    """Instances of a module with its own C++ class, as their memory.

    Parameters
    ----------
    member : str
        Name of the array of ``InstanceMemory`` in ``Ports``.
    path : str
        As of :class:`Internals`.
    count : int
        Length of the array, which may be 0.
    """

    member: str
    path: str
    count: int

    def instance(self, top: str) -> str:
        """The array in ``Ports``."""
        if not self.count:
            return f"    InstanceMemory* {self.member} = nullptr;"
        names = (_instance_path(top, self.path, index) for index in range(self.count))
        objects = (f"top.rootp->vlSymsp->TOP__{name}" for name in names)
        items = ", ".join(f"{{&{each}, sizeof {each}}}" for each in objects)
        return f"    InstanceMemory {self.member}[{self.count}] = {{{items}}};"


def _instance_path(top: str, path: str, index: int) -> str:
    """C++ name of an instance inside the system."""
    return ".".join([top, "dut", path.format(index)]).replace(".", "__DOT__")


def _counters(top: str, paths: Sequence[str]) -> str:
    """The array of pointers to counters in ``Ports``."""
    if not paths:
        return "    IData** counters = nullptr;"
    items = ", ".join(f"&top.rootp->{_instance_path(top, path, 0)}" for path in paths)
    return f"    IData* counters[{len(paths)}] = {{{items}}};"


#: The AXI4-Lite port that every system has.
LITE = PortGroup("LitePort", "lite", "s_axil__", _LITE_SIGNALS)


def words_of_bits(bits: int) -> int:
    """32-bit words for a number of bits."""
    return -(-bits // 32)


def _type(width: int) -> str:
    """Type of a port of that width in Verilator's C++."""
    for bits, name in ((8, "CData"), (16, "SData"), (32, "IData"), (64, "QData")):
        if width <= bits:
            return name
    return f"VlWide<{words_of_bits(width)}>"


def member_name(port: str) -> str:
    """C++ name of a Verilog port: Verilator escapes double underscores."""
    return port.replace("__", "___05F")


def _names(group: PortGroup) -> tuple[str, ...]:
    """C++ names of a group's ports."""
    return group.signals or ("value",)


def _struct(group: PortGroup, widths: Mapping[str, int]) -> str:
    """A struct of references, typed like the group's first ports.

    A design without such ports still gets the struct, for templates that name it.
    """
    prefix = group.prefix.format(0)
    ports = [prefix + signal for signal in group.signals] or [prefix]
    fields = [
        f"    {_type(widths.get(port, 64))}& {name};"
        for port, name in zip(ports, _names(group), strict=True)
    ]
    return "\n".join([f"struct {group.struct} {{", *fields, "};", ""])


def _references(group: PortGroup, index: int) -> str:
    prefix = group.prefix.format(index)
    ports = [prefix + signal for signal in group.signals] or [prefix]
    return "{" + ", ".join(f"top.{member_name(port)}" for port in ports) + "}"


def _instance(group: PortGroup) -> str:
    """The group's member of ``Ports``."""
    if group.count is None:
        return f"    {group.struct} {group.member} = {_references(group, 0)};"
    if not group.count:
        return f"    {group.struct}* {group.member} = nullptr;"
    items = ", ".join(_references(group, index) for index in range(group.count))
    return f"    {group.struct} {group.member}[{group.count}] = {{{items}}};"


def ports_header(
    top: str,
    widths: Mapping[str, int],
    groups: Sequence[PortGroup],
    constants: Mapping[str, int],
    internals: Sequence[Internals] = (),
    instances: Sequence[Instances] = (),
    counters: Sequence[str] = (),
) -> str:
    """Text of ``ports.h`` for one design.

    Parameters
    ----------
    top : str
        Name of the top-level Verilog module.
    widths : mapping of str to int
        Width of each of its ports.
    groups : sequence of PortGroup
        Ports that the shim uses.
    constants : mapping of str to int
        Numbers that the shim uses, by name.
    internals : sequence of Internals
        Registers that the shim uses.
    instances : sequence of Instances
        Instances whose memory the shim uses.
    counters : sequence of str
        Counters that it may change, with the instances that they are in.
    """
    groups = [*groups, PortGroup("MutantPort", "mutant", SELECTOR, (), int(SELECTOR in widths))]
    constants = {**constants, "SELECTORS": int(SELECTOR in widths), "COUNTERS": len(counters)}
    lines = [f"constexpr int {name} = {value};" for name, value in constants.items()]
    text = _HEADER.format(top=top, constants="\n".join([*lines, ""]))
    text += "".join(_struct(group, widths) for group in groups)
    text += "".join(registers.declaration for registers in internals)
    members = ["    Top& top;", *map(_instance, groups)]
    members += [registers.instance(top) for registers in internals]
    members += [memories.instance(top) for memories in instances]
    members.append(_counters(top, counters))
    members.append("    explicit Ports(Top& top_) : top(top_) {}")
    return text + "\n".join(["\nstruct Ports {", *members, "};", ""])
