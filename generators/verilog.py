"""Verilog of a component, and its ports as they are called there."""

from __future__ import annotations

from amaranth.back import rtlil
from amaranth.back.verilog import _convert_rtlil_text  # no public function takes RTLIL
from amaranth.hdl import Signal, ValueCastable
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring

from racetrap.generators.shared_modules import share_modules

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
    """Verilog of a component as module ``name``; the same text for the same component.

    Modules that are the same are written once; no name of a module has a dot.
    """
    design = rtlil.convert(component, name, ports=ports_of(component), emit_src=False)
    return _convert_rtlil_text(share_modules(design), strip_internal_attrs=True)
