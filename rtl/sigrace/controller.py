"""SigRace controller of a core: timing of events, and the ends of blocks.

Ref: SigRace (ISCA'09) Section 4.1 ("SigRace controller"), Fig. 5(b).
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.packets import Cause, CoreOp
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.sigrace.layouts import item_layout

_CAUSE_BITS = 3


class Controller(wiring.Component):
    """Control of the last stage of a core unit; combinational but for one flip-flop.

    A block leaves in its state before the item of the same cycle.  So a block that ends before an
    item (set full, sync_reached, the thread leaves) leaves in the cycle of the item; one that ends
    after it, by its limit, in the next cycle or later, and the next item takes effect no sooner.
    The end of a block costs an item no extra cycle.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_valid, i_item : ``In(1)``, ``In(item_layout(params))``
        The item of the last stage.
    i_collecting : ``In(1)``
        Addresses are collected.
    i_hits : ``In(1)``
        The item's granule traps if it is collected.
    i_overflows : ``In(1)``
        The item's granule does not fit into its set.
    i_is_empty : ``In(1)``
        The block has no address.
    i_reaches_limit : ``In(1)``
        The block ends after the item (may depend on ``o_ends``).
    i_trap_ready : ``In(1)``
        A trap record can be stored.
    o_step : ``Out(1)``
        The item takes effect.
    o_ends : ``Out(1)``
        The block ends before the item.
    o_insert, o_clear : ``Out(1)``
        The item's granule is inserted into its set; the sets are emptied before.
    o_block : ``Out(stream.Signature(3))``
        Blocks that leave for the compressor, and the cause of their end.
    o_trap_valid : ``Out(1)``
        The item makes a trap record.
    o_is_ending : ``Out(1)``
        A block has reached its limit and has not left.
    o_sent, o_cause : ``Out(1)``, ``Out(3)``
        With ``o_step``: whether the item makes a message, and the cause if it ends a block.
    """

    def __init__(self, params: SigraceParams):
        super().__init__({
            "i_valid": In(1),
            "i_item": In(item_layout(params)),
            "i_collecting": In(1),
            "i_hits": In(1),
            "i_overflows": In(1),
            "i_is_empty": In(1),
            "i_reaches_limit": In(1),
            "i_trap_ready": In(1),
            "o_step": Out(1),
            "o_ends": Out(1),
            "o_insert": Out(1),
            "o_clear": Out(1),
            "o_block": Out(stream.Signature(_CAUSE_BITS)),
            "o_trap_valid": Out(1),
            "o_is_ending": Out(1),
            "o_sent": Out(1),
            "o_cause": Out(_CAUSE_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        op = self.i_item.event.op
        collects, can_trap, leaves, is_over = (Signal() for _ in range(4))
        cause = Signal(_CAUSE_BITS)  # of an end before the item
        m.d.comb += [
            collects.eq(self.i_item.has_granule & self.i_collecting),
            can_trap.eq(~(collects & self.i_hits) | self.i_trap_ready),
            leaves.eq(self.o_is_ending | (self.i_valid & self.o_ends & can_trap)),
            is_over.eq(leaves & (self.i_is_empty | self.o_block.ready)),
            self.o_ends.eq(cause != Cause.NONE),
            self.o_step.eq(self.i_valid & can_trap & (is_over | ~(self.o_is_ending | self.o_ends))),
            self.o_insert.eq(self.o_step & collects),
            self.o_clear.eq(is_over | (self.o_step & (op == CoreOp.RESET))),
            self.o_block.valid.eq(leaves & ~self.i_is_empty),
            self.o_block.payload.eq(Mux(self.o_is_ending, Cause.LIMIT, cause)),
            self.o_trap_valid.eq(self.o_step & collects & self.i_hits),
        ]
        # A block that has reached its limit leaves first: the next one is still empty.
        with m.If(collects & self.i_overflows & ~self.o_is_ending):
            m.d.comb += cause.eq(Cause.FULL)
        with m.Elif(op == CoreOp.SYNC_REACHED):
            m.d.comb += cause.eq(Cause.SYNC)
        with m.Elif(op == CoreOp.SWITCH_OUT):
            m.d.comb += cause.eq(Cause.SWITCH)

        with m.If(self.o_step & self.i_reaches_limit):
            m.d.sync += self.o_is_ending.eq(1)
        with m.Elif(is_over):
            m.d.sync += self.o_is_ending.eq(0)

        had_addresses = ~self.i_is_empty & ~self.o_is_ending
        m.d.comb += [
            self.o_sent.eq(
                Mux(self.i_reaches_limit, collects | had_addresses, self.o_ends & had_addresses)
            ),
            self.o_cause.eq(Mux(self.i_reaches_limit, Cause.LIMIT, cause)),
        ]
        return m
