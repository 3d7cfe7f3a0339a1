"""Decoder of the read and the write signature of a Summary message (form ``hashed``).

Ref: SigRace (ISCA'09) Section 3.1 (compressed signatures), Section 4.1.
"""

from __future__ import annotations

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import wiring

from racetrap.golden_model.sigrace.params import FLIT_BITS, SigraceParams, SubFilter
from racetrap.rtl.sigrace.set_decoder import decoder_members


def _index_bits(one: SubFilter) -> int:
    """Bits of a position in a filter, and of the number of its bits in a list."""
    return one.bits.bit_length() - 1


class FilterDecoder(wiring.Component):
    """Assembles the two signatures of a message, one field a cycle.

    A field is the "empty" bit, the beginning of a filter (whether it is raw, otherwise the number
    of its bits), up to 32 bits of a raw filter, or the position of a bit.  One filter at a time is
    assembled and then stored.  A field is in its signature in the cycle after it was taken.  A
    reset prepares for the next message.

    Parameters
    ----------
    params : SigraceParams
        Configuration, of form ``hashed``.

    Members
    -------
    As in :class:`~racetrap.rtl.sigrace.set_decoder.SetDecoder`.
    """

    def __init__(self, params: SigraceParams):
        # All filters have the same size, except a one-hot one, which comes first.
        self._filters = params.sub_filters
        self._most_bits = max(one.bits for one in self._filters)
        super().__init__(decoder_members(params))
        self._number = Signal(range(len(self._filters)))
        self._partial = Signal(self._most_bits)
        self._whole = Signal(self._most_bits)
        self._is_stored = Signal()

    def elaborate(self, platform):
        m = Module()
        with m.FSM():
            with m.State("EMPTY"):
                m.d.comb += [self.o_needed.eq(1), self.o_done.eq(self.i_bits[0])]
                with m.If(self.i_go & ~self.i_bits[0]):
                    m.next = "FILTER"
            with m.State("FILTER"):
                remaining = self._elaborate_filter(m)
            with m.State("RAW"):
                self._elaborate_raw(m, remaining)
            with m.State("LIST"):
                self._elaborate_list(m, remaining)
        self._elaborate_store(m)
        return m

    def _of_filter(self, quantity) -> Value:
        """``quantity(filter)`` of the current filter."""
        first, last = (Const(quantity(self._filters[k])) for k in (0, -1))
        return Mux(self._number == 0, first, last)

    def _store(self, m: Module) -> None:
        """Store the complete filter and go on with the next one, or the next signature."""
        is_last = self._number == len(self._filters) - 1
        m.d.comb += [self._is_stored.eq(self.i_go), self.o_done.eq(is_last)]
        with m.If(self.i_go):
            m.next = "FILTER"
            with m.If(is_last):
                m.next = "EMPTY"

    def _elaborate_filter(self, m: Module) -> Signal:
        """Beginning of a filter; returns the register of the bits or positions to come."""
        remaining = Signal(range(self._most_bits + 1))
        is_raw = self.i_bits[0]
        count = self.i_bits[1:] & (self._of_filter(lambda one: one.bits) - 1)
        m.d.comb += self.o_needed.eq(Mux(is_raw, 1, 1 + self._of_filter(_index_bits)))
        with m.If(is_raw):
            with m.If(self.i_go):
                m.d.sync += remaining.eq(self._of_filter(lambda one: one.bits))
                m.next = "RAW"
        with m.Elif(count == 0):
            self._store(m)
        with m.Elif(self.i_go):
            m.d.sync += remaining.eq(count)
            m.next = "LIST"
        return remaining

    def _elaborate_raw(self, m: Module, remaining: Signal) -> None:
        """32 bits of a filter, or all of a smaller one; they are shifted in at the top."""
        width = self._of_filter(lambda one: min(FLIT_BITS, one.bits))
        top = self._of_filter(lambda one: max(0, one.bits - FLIT_BITS))
        chunk = self.i_bits & ((Const(1) << width) - 1)
        m.d.comb += [
            self.o_needed.eq(width),
            self._whole.eq((self._partial >> FLIT_BITS) | (chunk << top)),
        ]
        with m.If(self.i_go):
            m.d.sync += [remaining.eq(remaining - width), self._partial.eq(self._whole)]
        with m.If(remaining == width):
            self._store(m)

    def _elaborate_list(self, m: Module, remaining: Signal) -> None:
        """Position of a bit; positions ascend."""
        least = Signal(range(self._most_bits + 1))
        index_bits = (self._most_bits - 1).bit_length()
        position = self.i_bits & (self._of_filter(lambda one: one.bits) - 1)
        m.d.comb += [
            self.o_needed.eq(self._of_filter(_index_bits)),
            self.o_forbidden.eq(position < least),
            self._whole.eq(self._partial | (Const(1) << position[:index_bits])),
        ]
        with m.If(self.i_go):
            m.d.sync += [
                remaining.eq(remaining - 1),
                self._partial.eq(self._whole),
                least.eq(position + 1),
            ]
        with m.If(remaining == 1):
            self._store(m)
        with m.If(self._is_stored):
            m.d.sync += least.eq(0)

    def _elaborate_store(self, m: Module) -> None:
        with m.If(self._is_stored):
            m.d.sync += [self._partial.eq(0), self._number.eq(self._number + 1)]
            with m.If(self.o_done):
                m.d.sync += self._number.eq(0)
            for number, one in enumerate(self._filters):
                part = slice(one.offset, one.offset + one.bits)
                with m.If(self._number == number):
                    for is_write, output in enumerate((self.o_read, self.o_write)):
                        with m.If(self.i_is_write == is_write):
                            m.d.sync += output[part].eq(self._whole)
