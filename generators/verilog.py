"""Verilog of a component, and its ports as they are called there."""

from __future__ import annotations

from amaranth.back import verilog
from amaranth.hdl import Signal, ValueCastable
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring

__all__ = ["ports_of", "to_verilog"]


def ports_of(component: wiring.Component) -> dict[str, tuple[Signal, PortDirection]]:
    """Signal and direction of each port of a component's signature, by its name in Verilog.

    A constant is no port: a stream without back-pressure has no ``ready`` there.
    """
    ports = {}
    for path, member, value in component.signature.flatten(component):
        signal = value.as_value() if isinstance(value, ValueCastable) else value
        if isinstance(signal, Signal):
            direction = PortDirection.Input if member.flow is wiring.In else PortDirection.Output
            ports["__".join(map(str, path))] = signal, direction
    return ports


def to_verilog(component: wiring.Component, name: str) -> str:
    """Verilog of a component as module ``name``; the same text for the same component."""
    return verilog.convert(
        component, name, ports=ports_of(component), emit_src=False, strip_internal_attrs=True
    )
