"""Decompressor of Summary messages.

Ref: SigRace (ISCA'09) Section 3.1, Fig. 5(a) (messages are decompressed on arrival at the RDM).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, ResetInserter, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.params import FLIT_BITS, Form, SigraceParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.sigrace.bit_unpacker import BitUnpacker
from racetrap.rtl.sigrace.filter_decoder import FilterDecoder
from racetrap.rtl.sigrace.set_decoder import SetDecoder


class _Field:
    """The next field: taken when all its bits are here and it is not forbidden."""

    def __init__(self, unpacker: BitUnpacker, m: Module):
        self.needed = Signal.like(unpacker.i_take, name="needed")
        self.forbidden = Signal(name="forbidden")
        self.go = Signal(name="go")
        self.is_wrong = Signal(name="is_wrong")
        is_here = unpacker.o_count >= self.needed
        m.d.comb += [
            self.go.eq((self.needed != 0) & is_here & ~self.forbidden),
            self.is_wrong.eq(Mux(is_here, self.forbidden, unpacker.o_ended)),
            unpacker.i_take.eq(Mux(self.go, self.needed, 0)),
        ]


class Decompressor(wiring.Component):
    """Turns the flits of a Summary message into timestamp and signatures.

    One field a cycle: header, 32 bits of the timestamp, a run of a bitmap, a USB value, and so on;
    two more cycles for a message.  A message that does not decode exactly, to its last flit, is
    consumed and passed on as malformed, with the header as received and undefined timestamp and
    signatures.  ``i.ready`` depends on flip-flops only.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(flit_layout))``
        Flits of messages.
    o : ``Out(stream.Signature(summary_layout))``
        Decompressed messages.
    o_complete : ``Out(1)``
        The message has come in whole: it is offered from the next cycle on, and the next flit
        belongs to another one.
    o_idle : ``Out(1)``
        No part of a message is here.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(struct_layout(params.flit_layout))),
            "o": Out(stream.Signature(struct_layout(params.summary_layout))),
            "o_complete": Out(1),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.unpacker = unpacker = BitUnpacker(params)
        wiring.connect(m, wiring.flipped(self.i), unpacker.i)
        restart = Signal()
        decoder = SetDecoder(params) if params.form is Form.SETS else FilterDecoder(params)
        m.submodules.decoder = ResetInserter(restart)(decoder)
        words = -(-params.timestamp_width // FLIT_BITS)
        word = Signal(range(max(words, 2)))  # never without bits: Verilog has no such signal
        timestamp = Signal(words * FLIT_BITS)
        m.d.comb += [
            restart.eq(self.o.valid & self.o.ready),
            unpacker.i_restart.eq(self.o_complete),
            decoder.i_bits.eq(unpacker.o_bits),
            self.o.p.timestamp.eq(timestamp),
            self.o.p.read.eq(decoder.o_read),
            self.o.p.write.eq(decoder.o_write),
        ]

        field = _Field(unpacker, m)
        is_write = Signal()
        with m.If(restart):
            m.d.sync += [word.eq(0), is_write.eq(0), self.o.p.is_malformed.eq(0)]
        with m.FSM() as fsm:
            with m.State("HEADER"):
                self._elaborate_header(m, unpacker, field)
            with m.State("TIMESTAMP"):
                self._elaborate_timestamp(m, unpacker, field, word, timestamp)
            with m.State("SETS"):
                self._elaborate_sets(m, decoder, field, is_write)
            with m.State("END"):
                # Remaining bits must be the padding of the last flit.
                with m.If(unpacker.o_ended & (unpacker.o_count < FLIT_BITS)):
                    m.d.comb += self.o_complete.eq(1)
                    m.next = "DONE"
                with m.Else():
                    m.next = "SWALLOW"
            with m.State("SWALLOW"):
                m.d.comb += unpacker.i_swallow.eq(1)
                m.d.sync += self.o.p.is_malformed.eq(1)
                with m.If(unpacker.o_ended):
                    m.d.comb += self.o_complete.eq(1)
                    m.next = "DONE"
            with m.State("DONE"):
                m.d.comb += self.o.valid.eq(1)
                with m.If(self.o.ready):
                    m.next = "HEADER"
        m.d.comb += self.o_idle.eq(fsm.ongoing("HEADER") & (unpacker.o_count == 0))
        return m

    def _elaborate_header(self, m: Module, unpacker: BitUnpacker, field: _Field) -> None:
        header = self.o.p.header
        m.d.comb += field.needed.eq(FLIT_BITS)
        with m.If(field.go):
            m.d.sync += header.eq(unpacker.o_bits)
            m.next = "TIMESTAMP"
            is_hashed = header.shape()(unpacker.o_bits).is_hashed
            with m.If(is_hashed != (self._params.form is Form.HASHED)):
                m.next = "SWALLOW"

    def _elaborate_timestamp(
        self, m: Module, unpacker: BitUnpacker, field: _Field, word: Signal, timestamp: Signal
    ) -> None:
        """32 bits of the timestamp a cycle, shifted in at the top."""
        last = len(timestamp) // FLIT_BITS - 1
        rest = self._params.timestamp_width - last * FLIT_BITS
        m.d.comb += field.needed.eq(Mux(word == last, rest, FLIT_BITS))
        with m.If(field.is_wrong):
            m.next = "SWALLOW"
        with m.If(field.go):
            m.d.sync += [
                timestamp.eq(Cat(timestamp[FLIT_BITS:], unpacker.o_bits)),
                word.eq(word + 1),
            ]
            with m.If(word == last):
                m.next = "SETS"

    def _elaborate_sets(
        self, m: Module, decoder: SetDecoder | FilterDecoder, field: _Field, is_write: Signal
    ) -> None:
        m.d.comb += [
            field.needed.eq(decoder.o_needed),
            field.forbidden.eq(decoder.o_forbidden),
            decoder.i_go.eq(field.go),
            decoder.i_is_write.eq(is_write),
        ]
        with m.If(field.is_wrong):
            m.next = "SWALLOW"
        with m.If(field.go & decoder.o_done):
            m.d.sync += is_write.eq(1)
            with m.If(is_write):
                m.next = "END"
