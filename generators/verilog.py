"""Verilog of a component, and its ports as they are called there."""

from __future__ import annotations

import re
from collections import Counter

from amaranth.back import rtlil
from amaranth.back.verilog import _convert_rtlil_text  # no public function takes RTLIL
from amaranth.hdl import ClockDomain, Fragment, Signal, ValueCastable
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring

from racetrap.generators.garbage_collection import garbage_collection_paused
from racetrap.generators.shared_modules import share_modules

__all__ = ["ports_of", "to_verilog"]

_MODULE = re.compile(r"^module .*?^end$", re.MULTILINE | re.DOTALL)
#: A field without bits, which Verilog cannot declare, or what is connected to it; further in are
#: the ports of cells.
_EMPTY = re.compile(r"^ {,2}(?:wire width 0 (\S+)|connect (\S+) \{  \})\n", re.MULTILINE)


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


def _without_empty_fields(module: str) -> str:
    """RTLIL of a module without fields that have no bits, as far as nothing else names them."""
    elsewhere = Counter(re.findall(r"\S+", module))
    elsewhere.subtract(field[1] or field[2] for field in _EMPTY.finditer(module))
    return _EMPTY.sub(lambda field: field[0] * bool(elsewhere[field[1] or field[2]]), module)


def to_verilog(component: wiring.Component, name: str, *, asynchronous_reset: bool = False) -> str:
    """Verilog of a component as module ``name``; the same text for the same component.

    Modules that are the same are written once; no name of a module has a dot.

    Parameters
    ----------
    component : wiring.Component
        Top of the design.
    name : str
        Name of its module.
    asynchronous_reset : bool
        Whether ``rst`` resets registers at once; otherwise it does so at the clock's edge.
    """
    with garbage_collection_paused():
        fragment, ports = Fragment.get(component, None), ports_of(component)
        if asynchronous_reset:
            clock = ClockDomain("sync", async_reset=True)
            fragment.add_domains(clock)
            inputs = {"clk": clock.clk, "rst": clock.rst}
            ports = {name: (signal, PortDirection.Input) for name, signal in inputs.items()} | ports
        design = rtlil.convert(fragment, name=name, ports=ports, emit_src=False)
        design = _MODULE.sub(lambda module: _without_empty_fields(module[0]), design)
        named = share_modules(design)
        return _convert_rtlil_text(named, strip_internal_attrs=True)
