"""Address map: what an access to an address is, and which memory it reaches.

Ref: ``golden_model/noncoherent/taps/address_map.py`` (the same decisions).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.taps.params import Attribute, TapParams


def windows_layout(params: TapParams) -> data.ArrayLayout:
    """Programmable windows: bytes from ``first`` up to the one before ``end``."""
    return data.ArrayLayout(data.StructLayout({"first": 32, "end": 32}), params.windows)


class AddressMap(wiring.Component):
    """Attribute of an address, and its address in memory, in the same cycle.

    Parameters
    ----------
    params : TapParams
        The map.

    Members
    -------
    i_address : ``In(32)``
        Address as the CPU gives it.
    i_windows : ``In(windows_layout)``
        Memory that software has made uncached.
    o_attribute : ``Out(Attribute)``
        What the access is.
    o_address : ``Out(32)``
        Its address in memory.
    """

    def __init__(self, params: TapParams):
        self._params = params
        super().__init__({
            "i_address": In(32),
            "i_windows": In(windows_layout(params)),
            "o_attribute": Out(Attribute, init=Attribute.IGNORED),
            "o_address": Out(32),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        address, memory = self.i_address, self.o_address
        m.d.comb += memory.eq(address)
        attribute = Signal(Attribute, init=Attribute.IGNORED)
        # The first region wins: its assignment comes last.
        for region in reversed(self._params.regions):
            low = region.size.bit_length() - 1
            target = region.base if region.target is None else region.target
            with m.If(address[low:] == region.base >> low):
                m.d.comb += [
                    attribute.eq(region.attribute),
                    memory.eq(Cat(address[:low], Const(target >> low, 32 - low))),
                ]
        is_inside = Cat(
            (memory >= window.first) & (memory < window.end)
            for window in (self.i_windows[number] for number in range(self._params.windows))
        ).any()
        m.d.comb += self.o_attribute.eq(attribute)
        with m.If((attribute == Attribute.CACHED) & is_inside):
            m.d.comb += self.o_attribute.eq(Attribute.UNCACHED)
        return m
