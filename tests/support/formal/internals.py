"""Registers and memories of a component, open to a proof's harness by their names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from amaranth.hdl import Array, Fragment, Module, Shape, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory


class OpenComponent:
    """A component, elaborated once, and every signal that it drives.

    ``fragment`` is what the harness takes as its submodule.  A signal's name is that of its
    submodules and its own, as ``"window.claimed"``.

    Parameters
    ----------
    component : wiring.Component
        The component.
    """

    def __init__(self, component: wiring.Component):
        self.fragment = Fragment.get(component, None)
        self._signals: dict[str, list[Signal]] = {}
        for name, signal in _signals(self.fragment):
            known = self._signals.setdefault(name, [])
            if not any(signal is other for other in known):
                known.append(signal)

    def __getitem__(self, name: str) -> Signal:
        """The signal of this name.

        Raises
        ------
        KeyError
            If there is none, or more than one.
        """
        found = self.each(name)
        if len(found) != 1:
            raise KeyError(f"{len(found)} signals have the name {name!r}")
        return found[0]

    def each(self, name: str) -> list[Signal]:
        """All signals of this name, in the order in which the component drives them."""
        return self._signals.get(name, [])


def _signals(fragment: Fragment, prefix: str = "") -> Iterator[tuple[str, Signal]]:
    for statements in fragment.statements.values():
        for statement in statements:
            for signal in statement._lhs_signals():
                yield f"{prefix}{signal.name}", signal
    for part, name, _ in fragment.subfragments:
        yield from _signals(part, f"{prefix}{name}.")


class OpenMemory(Memory):
    """A memory of registers ``row_0`` and so on.

    What a synchronous port reads at the edge of a write of the same word is the word before.
    """

    def elaborate(self, platform):
        m = Module()
        width = Shape.cast(self.shape).width
        rows = Array(Signal(width, name=f"row_{number}") for number in range(self.depth))
        for port in self.write_ports:
            part = width // len(port.en)
            for number, enable in enumerate(port.en):
                bits = slice(number * part, (number + 1) * part)
                with m.If(enable):
                    m.d.sync += rows[port.addr][bits].eq(Value.cast(port.data)[bits])
        for port in self.read_ports:
            if port.domain == "comb":
                m.d.comb += Value.cast(port.data).eq(rows[port.addr])
            else:
                with m.If(port.en):
                    m.d.sync += Value.cast(port.data).eq(rows[port.addr])
        return m


class VagueMemory(OpenMemory):
    """A memory of which a word that is read at the edge of a write to it is ``vague``: anything
    that the harness drives."""

    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.vague = Signal(Shape.cast(self.shape).width, name="vague")

    def elaborate(self, platform):
        m = super().elaborate(platform)
        for write, read in product(self.write_ports, self.read_ports):
            with m.If(read.en & write.en & (read.addr == write.addr)):
                m.d.sync += Value.cast(read.data).eq(self.vague)
        return m
