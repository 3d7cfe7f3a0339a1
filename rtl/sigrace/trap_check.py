"""Trap check: accesses that hit the Conflict Signature, and records of those that trapped.

Ref: SigRace (ISCA'09) Section 3.4, Fig. 5(b).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.params import WORD_BITS, SigraceParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamFifo
from racetrap.rtl.sigrace.layouts import index_layout

_INDEX_BITS = 12


class TrapCheck(wiring.Component):
    """The Conflict Signature with a membership test, and a FIFO of trap records.

    The test is combinational.  A write or ``i_clear`` is visible in the next cycle.  A record
    leaves two cycles after it arrived, at most one a cycle; ``i_trap.ready`` depends on flip-flops
    only.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_indices : ``In(index_layout(params))``
        A granule's bit in each filter.
    o_is_member : ``Out(1)``
        All these bits are set in the Conflict Signature.
    i_write, i_index, i_data : ``In(1)``, ``In(12)``, ``In(32)``
        Write a word of the Conflict Signature; words and bits beyond its end are ignored.
    i_clear : ``In(1)``
        Empty the Conflict Signature; records are kept.
    i_trap : ``In(stream.Signature(trap_layout))``
        Records to be kept.
    o_trap : ``Out(stream.Signature(trap_layout))``
        Records for software, at most ``trap_depth`` of them in the unit.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        trap = stream.Signature(struct_layout(params.trap_layout))
        super().__init__({
            "i_indices": In(index_layout(params)),
            "o_is_member": Out(1),
            "i_write": In(1),
            "i_index": In(_INDEX_BITS),
            "i_data": In(WORD_BITS),
            "i_clear": In(1),
            "i_trap": In(trap),
            "o_trap": Out(trap),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.records = records = StreamFifo(
            struct_layout(params.trap_layout), params.trap_depth
        )
        wiring.connect(m, wiring.flipped(self.i_trap), records.i)
        wiring.connect(m, records.o, wiring.flipped(self.o_trap))

        signature = Signal(params.signature_bits)
        for word in range(params.signature_words):
            with m.If(self.i_write & (self.i_index == word)):
                m.d.sync += signature[word * WORD_BITS :][:WORD_BITS].eq(self.i_data)
        with m.If(self.i_clear):
            m.d.sync += signature.eq(0)
        m.d.comb += self.o_is_member.eq(self._hits(signature).all())
        return m

    def _hits(self, signature: Value) -> Value:
        """A bit for each filter: whether it has the granule's bit."""
        return Cat(
            signature[each.offset : each.offset + each.bits].bit_select(
                self.i_indices[str(number)], 1
            )
            for number, each in enumerate(self._params.sub_filters)
        )
