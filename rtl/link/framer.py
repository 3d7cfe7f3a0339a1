"""Replies into the bytes of a line.

Ref: ISO/IEC 13239 (HDLC) section 4.5; the golden model is ``golden_model.link.frames.encode``.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import memory, stream, wiring
from amaranth.lib.crc.catalog import CRC16_IBM_3740
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.link.frames import ESCAPE, ESCAPE_MASK, FLAG
from racetrap.rtl.link.layouts import START, Header, PayloadWrite


class Framer(wiring.Component):
    """Adds flags, escapes and CRC to a payload that lies in its memory of 256 bytes.

    A byte is offered every third cycle.  The header is taken with the last flag; the payload
    stays, so that offering the same header again sends the frame again.

    Members
    -------
    i : ``In(stream.Signature(Header))``
        Headers of frames to be sent, sent as they are.
    s_payload : ``In(PayloadWrite())``
        Writer of the payload; must not write while a header is offered.
    o : ``Out(stream.Signature(8))``
        Bytes for the line.
    """

    def __init__(self):
        super().__init__({
            "i": In(stream.Signature(Header)),
            "s_payload": In(PayloadWrite()),
            "o": Out(stream.Signature(8)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.crc = crc = CRC16_IBM_3740().create()
        index = Signal(9, init=START)
        is_second_crc_byte = Signal()
        is_crc = (index == self.i.p.length) | is_second_crc_byte
        payload = self._elaborate_memory(m, index)
        # After its own upper byte the CRC has its lower byte on top: no other way out is needed.
        byte = Mux(is_crc, crc.crc[8:], Mux(index[8], self._header_byte(index), payload))
        is_special = (byte == FLAG) | (byte == ESCAPE)
        is_sent = Signal()
        m.d.comb += [crc.data.eq(byte), crc.valid.eq(is_sent)]
        with m.FSM():
            with m.State("OPEN"), m.If(self.i.valid):
                m.d.comb += [self.o.valid.eq(1), self.o.payload.eq(FLAG), crc.start.eq(1)]
                m.d.sync += [index.eq(START), is_second_crc_byte.eq(0)]
                with m.If(self.o.ready):
                    m.next = "FETCH"
            with m.State("FETCH"):
                m.next = "SEND"
            with m.State("SEND"):
                m.d.comb += [self.o.valid.eq(1), self.o.payload.eq(Mux(is_special, ESCAPE, byte))]
                with m.If(self.o.ready & is_special):
                    m.next = "SEND_ESCAPED"
                with m.Elif(self.o.ready):
                    m.d.comb += is_sent.eq(1)
                    m.next = "NEXT"
            with m.State("SEND_ESCAPED"):
                m.d.comb += [self.o.valid.eq(1), self.o.payload.eq(byte ^ ESCAPE_MASK)]
                with m.If(self.o.ready):
                    m.d.comb += is_sent.eq(1)
                    m.next = "NEXT"
            with m.State("NEXT"):
                m.d.sync += [index.eq(index + 1), is_second_crc_byte.eq(is_crc)]
                m.next = "FETCH"
                with m.If(is_second_crc_byte):
                    m.next = "CLOSE"
            with m.State("CLOSE"):
                m.d.comb += [self.o.valid.eq(1), self.o.payload.eq(FLAG)]
                m.d.comb += self.i.ready.eq(self.o.ready)
                with m.If(self.o.ready):
                    m.next = "OPEN"
        return m

    def _elaborate_memory(self, m: Module, index: Signal) -> Value:
        """Payload byte of the cycle before's index."""
        m.submodules.payload = payload = memory.Memory(shape=8, depth=256, init=[])
        write, read = payload.write_port(), payload.read_port()
        m.d.comb += [
            write.en.eq(self.s_payload.enable),
            write.addr.eq(self.s_payload.address),
            write.data.eq(self.s_payload.data),
            read.addr.eq(index),
        ]
        return read.data

    def _header_byte(self, index: Signal) -> Value:
        return Value.cast(self.i.payload).word_select((index - START)[:2], 8)
