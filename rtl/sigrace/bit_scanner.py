"""Bit scanner: the positions of the set bits of a wide vector, one a cycle.

Ref: SigRace (ISCA'09) Section 4.2 (compressed signatures).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.rtl.common.bits import lowest_set

_WORD_BITS = 32


class BitScanner(wiring.Component):
    """Outputs the positions of all set bits, ascending.

    Two pipeline stages: one chooses the next word with a bit set, the other outputs the bits of the
    word before.  So the logic grows with the sum, not the product, of words and bits of a word.
    The first position comes two cycles after ``i_start``, then comes one a cycle.  ``o.valid``
    stays low if no bit is set.

    Parameters
    ----------
    bits : int
        Bits of the vector: a power of two, at least 2.

    Members
    -------
    i_start : ``In(1)``
        Pulse: restart with the vector, whatever is in flight.
    i_bits : ``In(bits)``
        The vector; it must be stable until its last position is output.
    o : ``Out(stream.Signature(StructLayout(position, last)))``
        Positions; ``last`` marks the highest.

    Raises
    ------
    ValueError
        If ``bits`` is not a power of two, or less than 2.
    """

    def __init__(self, bits: int):
        if bits < 2 or bits & (bits - 1):
            raise ValueError(f"Bit scanner width must be a power of two from 2 on, not {bits}")
        self._bits = bits
        position = data.StructLayout({"position": (bits - 1).bit_length(), "last": 1})
        super().__init__({
            "i_start": In(1),
            "i_bits": In(bits),
            "o": Out(stream.Signature(position)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        word_bits = min(self._bits, _WORD_BITS)
        words = [self.i_bits[low : low + word_bits] for low in range(0, self._bits, word_bits)]
        word = Signal(word_bits)  # bits still to be output
        number = Signal(range(max(2, len(words))))  # of that word
        remaining = Signal(len(words))  # words behind it with a bit set
        next_number = lowest_set(remaining)

        others = word & (word - 1)
        takes_next = ~others.any() & (~self.o.valid | self.o.ready)
        m.d.comb += [
            self.o.valid.eq(word.any()),
            self.o.payload.position.eq(Cat(lowest_set(word), number)),
            self.o.payload.last.eq(~others.any() & ~remaining.any()),
        ]
        with m.If(takes_next):
            m.d.sync += [
                word.eq(
                    Mux(
                        remaining.any(),
                        self.i_bits.word_select(next_number, word_bits),
                        0,
                    )
                ),
                number.eq(next_number),
                remaining.eq(remaining & (remaining - 1)),
            ]
        with m.Elif(self.o.ready):
            m.d.sync += word.eq(others)
        with m.If(self.i_start):
            m.d.sync += [word.eq(0), remaining.eq(Cat(part.any() for part in words))]
        return m
