"""Fields of any width out of a message of 32-bit flits.

Ref: SigRace (ISCA'09) Section 3.1 (Summary messages are decompressed in the RDM).
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.params import FLIT_BITS, SigraceParams
from racetrap.rtl.common.layout import struct_layout


class BitUnpacker(wiring.Component):
    """Shows the next bits of a message and drops as many as its user takes.

    Up to 32 bits are taken a cycle.  A flit comes in while 32 bits or fewer are held, so that
    fields of up to 32 bits flow at one a cycle as long as they average 16 bits or less.  After
    the message's last flit nothing more is taken in until ``i_restart``.  ``i.ready`` depends on
    flip-flops only.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(flit_layout))``
        Flits of messages.
    o_bits : ``Out(32)``
        The next bits, first one lowest; 0 beyond ``o_count``.
    o_count : ``Out(range(65))``
        Bits held.
    o_ended : ``Out(1)``
        The last flit of the message has come in.
    i_take : ``In(range(33))``
        Bits to drop; at most ``o_count``.
    i_swallow : ``In(1)``
        Drop everything that is held, and the incoming flit.
    i_restart : ``In(1)``
        Drop everything and continue with the next message; this one must have ended.
    """

    def __init__(self, params: SigraceParams):
        super().__init__({
            "i": In(stream.Signature(struct_layout(params.flit_layout))),
            "o_bits": Out(FLIT_BITS),
            "o_count": Out(range(2 * FLIT_BITS + 1)),
            "o_ended": Out(1),
            "i_take": In(range(FLIT_BITS + 1)),
            "i_swallow": In(1),
            "i_restart": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        held = Signal(2 * FLIT_BITS)
        is_taken = self.i.valid & self.i.ready
        # The flit is placed before anything is dropped: the number of bits to drop is known late.
        with_flit = Mux(is_taken, held | (self.i.p.data << self.o_count)[: 3 * FLIT_BITS], held)
        m.d.comb += [
            self.i.ready.eq((self.o_count <= FLIT_BITS) & ~self.o_ended),
            self.o_bits.eq(held),
        ]
        with m.If(self.i_swallow | self.i_restart):
            m.d.sync += [held.eq(0), self.o_count.eq(0)]
        with m.Else():
            m.d.sync += [
                held.eq(with_flit >> self.i_take),
                self.o_count.eq(self.o_count + Mux(is_taken, FLIT_BITS, 0) - self.i_take),
            ]
        with m.If(self.i_restart):
            m.d.sync += self.o_ended.eq(0)
        with m.Elif(is_taken & self.i.p.last):
            m.d.sync += self.o_ended.eq(1)
        return m
