"""Distinct modules of a design: equal components are elaborated once, into one module.

Components of one class with equal ports and equal attributes are the same hardware: each is
replaced by an instance of the first one's module.  Anything that distinguishes such components,
such as the number of an SM, must be a port.  A component with attributes that cannot be compared,
such as signals, gets its own module.  Arrays may be components, too: those of ``Ram``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from amaranth.hdl import (
    ClockDomain,
    ClockSignal,
    Elaboratable,
    Fragment,
    Instance,
    Module,
    ResetSignal,
    Shape,
    ShapeCastable,
    Signal,
    Value,
    ValueCastable,
)
from amaranth.hdl._ast import SignalDict, SignalSet
from amaranth.hdl._ir import Design, PortDirection
from amaranth.hdl._xfrm import DomainCollector
from amaranth.lib import wiring
from amaranth.lib.memory import Memory

from racetrap.golden_model.layout import Layout
from racetrap.rtl.common.ram import Ram, ram_of

_Ports = dict[str, tuple[Signal, PortDirection]]

#: Types that are compared by value.
_PLAIN = (int, str, type(None), Enum, Shape, ShapeCastable)
#: Prefixes of attributes that do not affect the hardware.
_OF_AMARANTH = ("_MustUse", "_Component")


@dataclass(eq=False)
class DistinctModule:
    """A module of a design.

    Parameters
    ----------
    component : wiring.Component
        The first of the equal components.
    fragment : Fragment
        Its logic, in which such components are instances.
    instances : list of (str, Instance, DistinctModule)
        The instances in it: path from here, Amaranth's instance, and its module.
    """

    component: wiring.Component
    fragment: Fragment
    instances: list[tuple[str, Instance, DistinctModule]]

    @cached_property
    def is_clocked(self) -> bool:
        """Whether it has a clock and a reset.

        Raises
        ------
        ValueError
            If it has a clock from outside that is not ``sync``.
        """
        domains = DomainCollector()
        domains(self.fragment)
        used = domains.used_domains - domains.defined_domains
        if used - {"sync"}:
            raise ValueError(f"Clock of a component must be sync, not {', '.join(sorted(used))}")
        return bool(used)

    def design(self, name: str, asynchronous_reset: bool) -> Design:
        """The module for Amaranth's back ends, usable once."""
        ports = _wires(self.component)
        if asynchronous_reset and self.is_clocked:
            clock = ClockDomain("sync", async_reset=True)
            self.fragment.add_domains(clock)
            inputs = {"clk": clock.clk, "rst": clock.rst}
            ports = {name: (signal, PortDirection.Input) for name, signal in inputs.items()} | ports
        return self.fragment.prepare(ports=ports, hierarchy=(name,))


def ports_of(component: wiring.Component) -> _Ports:
    """Signal and direction of each port of a component's signature, by its name in Verilog.

    A constant is not a port: a stream without back-pressure has no ``ready``.
    """
    ports = {}
    for path, member, value in component.signature.flatten(component):
        signal = value.as_value() if isinstance(value, ValueCastable) else value
        if isinstance(signal, Signal):
            direction = PortDirection.Input if member.flow is wiring.In else PortDirection.Output
            ports["__".join(map(str, path))] = signal, direction
    return ports


def expect_no_elaboration(component: wiring.Component) -> None:
    """Keep Amaranth from a warning that a component, of which only ports are used, is not
    elaborated."""
    component._MustUse__used = True
    for part in vars(component).values():
        if isinstance(part, wiring.Component):
            expect_no_elaboration(part)


def distinct_modules(
    top: wiring.Component, name: str, *, asynchronous_reset: bool = False,
    macro_words: int | None = None,
) -> dict[DistinctModule, Design]:  # fmt: skip
    """The modules of a design, the top first, each in the form for Amaranth's back ends.

    A module is named by the shortest dotted path of its instances, and one of ``Ram`` by its sizes.

    Parameters
    ----------
    top : wiring.Component
        Top of the design.
    name : str
        Name of its module.
    asynchronous_reset : bool
        Whether the reset of each module is asynchronous.
    macro_words : int or None
        As of ``Ram``, of which each array is then an instance; None: arrays are memories of the
        modules that they are in.

    Raises
    ------
    ValueError
        If a component is connected other than by its ports, or an array is none of ``Ram``.
    """
    names = {_Elaboration(macro_words).module_of(top): name}
    modules = list(names)
    for module in modules:
        for path, instance, inner in module.instances:
            if inner not in names:
                part = inner.component
                is_ram = isinstance(part, Ram)
                names[inner] = f"{name}.{part.module_name}" if is_ram else f"{names[module]}.{path}"
                modules.append(inner)
            instance.type = names[inner]
    designs = {module: module.design(names[module], asynchronous_reset) for module in modules}
    _check_connections(designs)
    return designs


def _check_connections(designs: Mapping[DistinctModule, Design]) -> None:
    """Check that every signal belongs to one module, except for ports."""
    places: SignalDict = SignalDict()
    for module, design in designs.items():
        ports = SignalSet(signal for signal, _ in ports_of(module.component).values())
        place = ".".join(design.hierarchy)
        for signal in design.signal_lca:
            if signal not in ports and places.setdefault(signal, place) != place:
                raise ValueError(
                    f"Signal {signal.name} of {places[signal]} is used in {place}, but is no port"
                )


class _Elaboration:
    """Elaborated components, by class and attributes."""

    def __init__(self, macro_words: int | None) -> None:
        self._macro_words = macro_words
        self._known: dict[type, list[tuple[Any, DistinctModule]]] = defaultdict(list)

    def module_of(self, component: wiring.Component) -> DistinctModule:
        instances: list[tuple[str, Instance, DistinctModule]] = []
        return DistinctModule(component, self._fragment(component, "", instances), instances)

    def _fragment(self, logic: Elaboratable, path: str, instances: list[Any]) -> Fragment:
        """Logic of the component or module at ``path``; adds to the instances of the whole."""
        while not isinstance(logic, Module | Fragment):
            logic._MustUse__used = True
            logic = logic.elaborate(None)
        if isinstance(logic, Module):
            parts = logic._named_submodules
            for name, (part, location) in parts.items():
                inner = f"{path}.{name}" if path else name
                parts[name] = self._part(part, inner, instances), location
        return Fragment.get(logic, None)

    def _part(self, part: Elaboratable, path: str, instances: list[Any]) -> Fragment:
        if isinstance(part, Memory) and self._macro_words is not None:
            part._MustUse__used = True
            ram, wires = ram_of(part, self._macro_words)
            return self._instance(ram, wires, path, instances)
        if not (isinstance(part, wiring.Component) and part.signature.members):
            return self._fragment(part, path, instances)
        wires = {name: signal for name, (signal, _) in _wires(part).items()}
        return self._instance(part, wires, path, instances)

    def _instance(
        self, part: wiring.Component, wires: Mapping[str, Value], path: str, instances: list[Any]
    ) -> Fragment:
        """A component as an instance of its module, with what its ports are connected to."""
        try:
            made_of = _made_of(part)
        except _Unknown:
            return self._fragment(part, path, instances)
        known = self._known[type(part)]
        module = next((module for other, module in known if other == made_of), None)
        if module is None:
            module = self.module_of(part)
            known.append((made_of, module))
        clock = {"clk": ClockSignal(), "rst": ResetSignal()} if module.is_clocked else {}
        instance = Instance(
            "",
            *(("i", name, signal) for name, signal in clock.items()),
            *(
                ("i" if direction is PortDirection.Input else "o", name, wires[name])
                for name, (_, direction) in _wires(part).items()
            ),
        )
        instances.append((path, instance, module))
        return instance


class _Unknown(Exception):
    """Objects of this type cannot be compared."""


def _made_of(component: wiring.Component) -> dict[str, Any]:
    """Key that is equal for components of a class with the same hardware."""
    component._MustUse__used = True  # not elaborated if an equal one has been
    ports = [(path, member) for path, member, _ in component.signature.flatten(component)]
    return {"ports": ports} | {
        name: _value(thing)
        for name, thing in vars(component).items()
        if name not in component.signature.members and not name.startswith(_OF_AMARANTH)
    }


def _value(thing: Any) -> Any:
    """Comparable key of an object."""
    if isinstance(thing, wiring.Component):
        return type(thing), _made_of(thing)
    if isinstance(thing, Layout):
        return tuple(thing.flat())
    if isinstance(thing, list | tuple):
        return [_value(each) for each in thing]
    if isinstance(thing, Mapping):
        return [(name, _value(each)) for name, each in thing.items()]
    if isinstance(thing, _PLAIN) or is_dataclass(thing):
        return thing
    raise _Unknown


def _wires(component: wiring.Component) -> _Ports:
    """Ports with at least one bit: Verilog has no empty ones."""
    return {name: port for name, port in ports_of(component).items() if len(port[0])}
