"""Signature encoder: from a signature to the fields of a Summary message.

Ref: SigRace (ISCA'09) Section 4.2 (compressed signatures).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring

from racetrap.golden_model.sigrace.params import FLIT_BITS, SigraceParams
from racetrap.rtl.sigrace.bit_scanner import BitScanner
from racetrap.rtl.sigrace.fields import encoder_members, put_field
from racetrap.rtl.sigrace.layouts import set_layout


class _FilterShape:
    """Constants of the filter that is being written, chosen by whether it is the first one.

    Only a one-hot LSB register may have another size than the filters behind it.
    """

    def __init__(self, params: SigraceParams, is_first: Signal):
        self._sizes = (params.sub_filters[0].bits, params.sub_filters[-1].bits)
        self._is_first = is_first
        self.index_bits = self._choose(lambda bits: bits.bit_length() - 1)
        self.word_bits = self._choose(lambda bits: min(bits, FLIT_BITS))
        self.last_word = self._choose(lambda bits: max(1, bits // FLIT_BITS) - 1)
        #: Maximum ones for which a list is shorter than the bits themselves.
        self.list_limit = self._choose(lambda bits: (bits - 1) // (bits.bit_length() - 1) - 1)

    def _choose(self, of_size):
        first, others = (of_size(bits) for bits in self._sizes)
        return Const(first) if first == others else Mux(self._is_first, first, others)


class SignatureEncoder(wiring.Component):
    """Writes each filter as the list of its ones, or as its bits if these are no longer.

    A filter's ones are counted first, one a cycle, until a list would be too long.  Then comes
    one field a cycle: a position, or 32 bits.  The next signature is taken two cycles after
    the last field left.  ``i.ready`` depends on flip-flops only.

    Parameters
    ----------
    params : SigraceParams
        Configuration, with form ``hashed``.

    Members
    -------
    i : ``In(stream.Signature(set_layout(params)))``
        Signatures.
    o : ``Out(stream.Signature(Field))``
        Fields; ``last`` marks the last one of a signature.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        super().__init__(encoder_members(params))

    def elaborate(self, platform):
        m = Module()
        sizes = [sub_filter.bits for sub_filter in self._params.sub_filters]
        held = Signal(set_layout(self._params))  # the filter being written lies lowest
        number = Signal(range(len(sizes)))
        shape = _FilterShape(self._params, number == 0)
        lowest = Mux(number == 0, held.signature[: sizes[0]], held.signature[: sizes[-1]])
        m.submodules.scanner = scanner = BitScanner(max(sizes))
        m.d.comb += scanner.i_bits.eq(lowest)
        is_last = number == len(sizes) - 1

        with m.FSM(init="IDLE"):
            with m.State("IDLE"):
                m.d.comb += self.i.ready.eq(1)
                with m.If(self.i.valid):
                    m.d.sync += [held.eq(self.i.payload), number.eq(0)]
                    m.next = "EMPTY"
            with m.State("EMPTY"):
                is_taken = put_field(m, self.o, held.is_empty, 1, is_end=held.is_empty)
                with m.If(is_taken):
                    m.next = "SCAN"
                    with m.If(held.is_empty):
                        m.next = "IDLE"
            with m.State("SCAN"):
                m.d.comb += scanner.i_start.eq(1)
                m.next = "TALLY"
            self._elaborate_filter(m, shape, lowest, scanner, is_last)
            with m.State("NEXT"):
                m.d.sync += [
                    number.eq(number + 1),
                    held.signature.eq(
                        Mux(number == 0, held.signature >> sizes[0], held.signature >> sizes[-1])
                    ),
                ]
                m.next = "SCAN"
                with m.If(is_last):
                    m.next = "IDLE"
        return m

    def _elaborate_filter(self, m: Module, shape, lowest: Value, scanner, is_last: Value):
        """States from the counting of a filter's ones to its last field."""
        count = Signal(range(max(len(scanner.i_bits), 2)))  # of ones, or of words written
        position = scanner.o.payload
        with m.State("TALLY"):
            m.d.comb += scanner.o.ready.eq(1)
            with m.If(scanner.o.valid):
                m.d.sync += count.eq(count + 1)
                with m.If(count == shape.list_limit):
                    m.d.sync += count.eq(0)
                    m.next = "BITS"
                with m.Elif(position.last):
                    m.next = "LIST"
        with m.State("BITS"):
            with m.If(put_field(m, self.o, 1, 1)):
                m.next = "WORDS"
        with m.State("WORDS"):
            is_end = count == shape.last_word
            word = lowest.word_select(count, FLIT_BITS)
            with m.If(put_field(m, self.o, word, shape.word_bits, is_end=is_end & is_last)):
                m.d.sync += count.eq(count + 1)
                with m.If(is_end):
                    m.d.sync += count.eq(0)
                    m.next = "NEXT"
        with m.State("LIST"):
            m.d.comb += scanner.i_start.eq(1)
            with m.If(put_field(m, self.o, Cat(Const(0, 1), count), shape.index_bits + 1)):
                m.d.sync += count.eq(0)
                m.next = "POSITIONS"
        with m.State("POSITIONS"):
            m.d.comb += scanner.o.ready.eq(self.o.ready)
            is_taken = put_field(
                m,
                self.o,
                position.position,
                shape.index_bits,
                is_end=position.last & is_last,
                is_there=scanner.o.valid,
            )
            with m.If(is_taken & position.last):
                m.next = "NEXT"
