"""Row ring: the rows in a pipeline of four stages, kept so that they can restart."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.layout import struct_layout

_STAGES = 4


def place_layout(params: NoncoherentParams) -> data.StructLayout:
    """A row, if one is held."""
    return data.StructLayout({"held": 1, "row": struct_layout(params.row_layout)})


class RowRing(wiring.Component):
    """Ring of four rows: rows move on by one, and from the last place out or to the first.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(row_layout))``
        Rows; one is taken whenever all move on and the last leaves.
    i_enable : ``In(1)``
        Rows that are taken are held.
    i_open : ``In(1)``
        Rows may be taken.
    i_shift : ``In(1)``
        All move on, the last leaves.
    i_rotate : ``In(1)``
        All move on, the last becomes the first; not together with ``i_shift``.
    o_first, o_last : ``Out(place_layout)``
        First and last place.
    o_empty : ``Out(1)``
        No place holds a row.
    """

    def __init__(self, params: NoncoherentParams):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(struct_layout(params.row_layout))),
            "i_enable": In(1),
            "i_open": In(1),
            "i_shift": In(1),
            "i_rotate": In(1),
            "o_first": Out(place_layout(params)),
            "o_last": Out(place_layout(params)),
            "o_empty": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        places = [
            Signal(place_layout(self._params), name=f"place_{stage}") for stage in range(_STAGES)
        ]
        first, last = places[0], places[-1]
        m.d.comb += [
            self.i.ready.eq(self.i_shift & self.i_open),
            self.o_first.eq(first),
            self.o_last.eq(last),
            self.o_empty.eq(~Cat(place.held for place in places).any()),
        ]
        with m.If(self.i_shift | self.i_rotate):
            for place, before in zip(places[1:], places, strict=False):
                m.d.sync += place.eq(before)
        with m.If(self.i_rotate):
            m.d.sync += first.eq(last)
        with m.Elif(self.i_shift):
            m.d.sync += [
                first.held.eq(self.i.valid & self.i_open & self.i_enable),
                first.row.eq(self.i.payload),
            ]
        return m
