"""Requests out of the bytes of a line.

Ref: ISO/IEC 13239 (HDLC) section 4.5; the golden model is ``golden_model.link.frames.Decoder``.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import memory, stream, wiring
from amaranth.lib.crc.catalog import CRC16_IBM_3740
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.link.frames import ESCAPE, ESCAPE_MASK, FLAG, MAX_PAYLOAD_BYTES
from racetrap.rtl.link.layouts import START, Header, LineByte, PayloadRead

_CRC_BYTES = 2


class Deframer(wiring.Component):
    """Takes off flags, escapes and CRC, and keeps the payload in a memory of 256 bytes.

    A byte is taken every cycle while no request is offered.  A request is offered in the cycle
    after its last flag, and only if length and CRC fit; then nothing is taken until the request
    is, for its user reads the payload.  After a damaged or lost byte
    all up to the next flag is dropped.  What comes before the first flag is dropped, too.

    Members
    -------
    i : ``In(stream.Signature(LineByte))``
        Bytes of the line.
    o : ``Out(stream.Signature(Header))``
        Headers of good frames.
    s_payload : ``In(PayloadRead())``
        The payload, valid while ``o`` offers its header.
    o_good, o_bad_crc, o_bad_length, o_too_long : ``Out(1)``
        High for one cycle for each frame that is offered or dropped.
    """

    def __init__(self):
        super().__init__({
            "i": In(stream.Signature(LineByte)),
            "o": Out(stream.Signature(Header)),
            "s_payload": In(PayloadRead()),
            "o_good": Out(1),
            "o_bad_crc": Out(1),
            "o_bad_length": Out(1),
            "o_too_long": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.crc = crc = CRC16_IBM_3740().create()
        is_skipped = Signal(init=1)
        is_escaped = Signal()
        is_taken = Signal()
        index = Signal(9, init=START)
        line = self.i.p.data
        byte = line ^ (is_escaped << ESCAPE_MASK.bit_length() - 1)
        m.d.comb += [self.i.ready.eq(~self.o.valid), crc.data.eq(byte), crc.valid.eq(is_taken)]
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.If(self.i.valid & self.i.ready):
            with m.If(line == FLAG):
                m.d.comb += crc.start.eq(1)
                m.d.sync += [is_skipped.eq(0), is_escaped.eq(0), index.eq(START)]
                with m.If(~is_skipped & ~self.i.p.bad & ((index != START) | is_escaped)):
                    has_length = ~is_escaped & (index == self.o.p.length + _CRC_BYTES)
                    self._elaborate_end(m, has_length, crc.match_detected)
            with m.Elif(self.i.p.bad):
                m.d.sync += is_skipped.eq(1)
            with m.Elif(~is_skipped):
                with m.If((line == ESCAPE) & ~is_escaped):
                    m.d.sync += is_escaped.eq(1)
                with m.Elif(index == MAX_PAYLOAD_BYTES + _CRC_BYTES):
                    m.d.comb += self.o_too_long.eq(1)
                    m.d.sync += is_skipped.eq(1)
                with m.Else():
                    m.d.comb += is_taken.eq(1)
                    m.d.sync += [is_escaped.eq(0), index.eq(index + 1)]
        self._elaborate_body(m, index, is_taken, byte)
        return m

    def _elaborate_end(self, m: Module, has_length: Value, has_crc: Value) -> None:
        """A flag after a body: what becomes of the frame."""
        with m.If(~has_length):
            m.d.comb += self.o_bad_length.eq(1)
        with m.Elif(~has_crc):
            m.d.comb += self.o_bad_crc.eq(1)
        with m.Else():
            m.d.comb += self.o_good.eq(1)
            m.d.sync += self.o.valid.eq(1)

    def _elaborate_body(self, m: Module, index: Signal, is_taken: Signal, byte: Value) -> None:
        """Where a body byte goes: header, payload memory, or into the CRC only."""
        m.submodules.payload = payload = memory.Memory(shape=8, depth=256, init=[])
        write, read = payload.write_port(), payload.read_port()
        header = Value.cast(self.o.payload)
        # A CRC byte may land behind the payload, where nobody reads; never on byte 0.
        m.d.comb += [
            write.en.eq(is_taken & ~index[8]),
            write.addr.eq(index),
            write.data.eq(byte),
            read.addr.eq(self.s_payload.address),
            self.s_payload.data.eq(read.data),
        ]
        with m.If(is_taken & (index >= START)):
            m.d.sync += header.eq(Cat(header[8:], byte))
