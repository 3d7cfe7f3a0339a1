"""Stand-in for a component in its benches: the same block, as Verilator compiled it."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.sim import Simulator

from racetrap.evaluation.mutants.block_library import WORD_BITS, BlockLibrary


class VerilatedBlock(wiring.Component):
    """A component whose behaviour is that of a module of a Verilog file.

    Outputs that the module has not, as its system uses them nowhere, stay 0.

    Parameters
    ----------
    component : Component
        What it stands for: its ports are the same.
    library : BlockLibrary
        The module.
    mutant : int
        The mutant selected in it; 0: none.

    Raises
    ------
    ValueError
        If a port of the module is not one of the component, or as wide.
    """

    def __init__(self, component: Any, library: BlockLibrary, mutant: int = 0) -> None:
        super().__init__(component.signature)
        component._MustUse__silence = True  # it gives its signature alone
        self._library, self._mutant = library, mutant
        own = {
            "__".join(map(str, path)): Value.cast(value)
            for path, _, value in self.signature.flatten(self)
        }
        for port in library.ports:
            if port.name not in own or len(own[port.name]) != port.width:
                raise ValueError(
                    f"Port {port.name} must be one of {component} with {port.width} bits"
                )
        inputs = [own[port.name] for port in library.ports if port.is_input]
        self._inputs = Cat(Cat(each, Const(0, -len(each) % WORD_BITS)) for each in inputs)
        self._given = Signal(len(self._inputs))
        self._outputs = [(own[port.name], port) for port in library.ports if not port.is_input]
        self._edge = Signal()

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.d.comb += self._given.eq(self._inputs)
        if self._library.has_clock:
            m.d.sync += self._edge.eq(~self._edge)
        return m

    async def process(self, ctx: Any) -> None:
        """Plays the module: as long as nothing changes, so does it."""
        block = self._library.instance(self._mutant)
        places = [0, *accumulate(port.words for _, port in self._outputs)]
        shown: dict[int, int] = {}
        before = edge = 0
        # Registers elsewhere change with the edge; what they were before it is what counts.
        async for now, at in ctx.changed(self._given, self._edge):
            if at != edge:
                block.evaluate(before, has_edge=True)
            edge, before = at, now
            outputs = block.evaluate(now)
            for place, (value, port) in zip(places, self._outputs, strict=False):
                word = outputs >> place * WORD_BITS & (1 << port.width) - 1
                if shown.get(place) != word:
                    shown[place] = word
                    ctx.set(value, word)


def add_blocks(simulator: Simulator, dut: Any) -> None:
    """Let a simulator play ``dut`` if it is a Verilated block, or its attributes that are."""
    for each in (dut, *vars(dut).values()):
        if isinstance(each, VerilatedBlock):
            simulator.add_process(each.process)
