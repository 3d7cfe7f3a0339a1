"""A block between shift registers, so that pins neither run out nor limit its clock."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value, ValueCastable
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class ShiftWrapper(wiring.Component):
    """Every input of a block comes from a flip-flop, every output ends in one.

    All paths from and to the block thus are paths between registers of one clock.  The registers
    add a flip-flop for each port bit, and a look-up table for each output bit.

    Parameters
    ----------
    block : wiring.Component
        The block, which must not be used elsewhere.

    Members
    -------
    i_serial : ``In(1)``
        Next bit of the inputs; they shift every cycle.
    i_capture : ``In(1)``
        Take the outputs in this cycle; otherwise they shift.
    o_serial : ``Out(1)``
        Last bit of the outputs taken.
    """

    def __init__(self, block: wiring.Component):
        self._block = block
        super().__init__({"i_serial": In(1), "i_capture": In(1), "o_serial": Out(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.block = self._block
        ports: dict[wiring.Flow, list[Value]] = {wiring.In: [], wiring.Out: []}
        for _, member, port in self._block.signature.flatten(self._block):
            value = port.as_value() if isinstance(port, ValueCastable) else port
            if isinstance(value, Signal):  # ports of constants have nothing to connect
                ports[member.flow].append(value)
        driven, seen = Cat(ports[wiring.In]), Cat(ports[wiring.Out])
        inputs = Signal(len(driven), reset_less=True)
        outputs = Signal(len(seen), reset_less=True)
        m.d.sync += [
            inputs.eq(Cat(self.i_serial, inputs)),
            outputs.eq(Cat(self.i_serial, outputs)),
        ]
        with m.If(self.i_capture):
            m.d.sync += outputs.eq(seen)
        m.d.comb += [driven.eq(inputs), self.o_serial.eq(outputs[-1])]
        return m
