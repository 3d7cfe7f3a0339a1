"""Protection of memory from a GPU detector: bounds of its metadata and ring, and bus attributes.

Ref: AMBA AXI and ACE Protocol Specification (IHI 0022), sections A4.4 and A4.7.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Module, Value, ValueLike
from amaranth.lib import data

from racetrap.rtl.common.registers import RegisterBlock

#: What a detector has in memory.
_PARTS = ("metadata", "report")


def bounds_layout() -> data.StructLayout:
    """First and last byte address that metadata and ring may have."""
    bounds = data.StructLayout({"base": 64, "limit": 64})
    return data.StructLayout(dict.fromkeys(_PARTS, bounds))


def attributes_layout() -> data.StructLayout:
    """AxPROT and AxCACHE of accesses to a part of memory."""
    return data.StructLayout({"prot": 3, "cache": 4})


def all_attributes_layout() -> data.StructLayout:
    """AxPROT and AxCACHE of accesses to metadata and ring."""
    return data.StructLayout(dict.fromkeys(_PARTS, attributes_layout()))


def is_inside(bounds: data.View, first: Value, end: Value) -> Value:
    """Whether the bytes from ``first`` to before ``end`` keep to their bounds."""
    return (first >= bounds.base) & (end <= bounds.limit + 1)


def set_attributes(m: Module, axi: Any, attributes: data.View) -> None:
    """Give the requests of a manager's port, which is connected already, their attributes.

    They must not change while a request waits.
    """
    for channel in ("aw", "ar"):
        if f"{channel}addr" in axi.signature.members:
            m.d.comb += [
                getattr(axi, f"{channel}prot").eq(attributes.prot),
                getattr(axi, f"{channel}cache").eq(attributes.cache),
            ]


def connect_protection(
    m: Module, registers: RegisterBlock, bounds: data.View, attributes: data.View, locks: ValueLike
) -> None:
    """Connect the registers of bounds and attributes.

    Parameters
    ----------
    m : Module
        Module of the system.
    registers : RegisterBlock
        Its registers.
    bounds, attributes : View
        What they say.
    locks : ValueLike
        Pulse: from this cycle on the bounds hold until reset.
    """
    for part in _PARTS:
        for end in ("base", "limit"):
            low, high = (
                getattr(registers, f"{part}_bounds_{end}_{half}").value for half in ("lo", "hi")
            )
            m.d.comb += bounds[part][end].eq(Cat(low, high))
        for name in ("prot", "cache"):
            given = getattr(registers.bus_attributes, f"{part}_{name}")
            m.d.comb += attributes[part][name].eq(given)
    m.d.comb += registers.bounds.lock.eq(locks)
