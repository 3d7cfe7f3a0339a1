"""Compressor: from a finished block to the flits of its Summary message.

Ref: SigRace (ISCA'09) Sections 3.2 and 4.2, Fig. 5(b).
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.params import FLIT_BITS, Form, SigraceParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamRegister
from racetrap.rtl.sigrace.bit_packer import BitPacker
from racetrap.rtl.sigrace.fields import Field, put_field
from racetrap.rtl.sigrace.layouts import block_layout, set_layout
from racetrap.rtl.sigrace.set_encoder import SetEncoder
from racetrap.rtl.sigrace.signature_encoder import SignatureEncoder


class Compressor(wiring.Component):
    """Holds one block and sends it: header, timestamp, read set, write set.

    A block is taken in one cycle; its first flit leaves three cycles later.  One field of the
    message is made each cycle: a counter of the timestamp, a run of a bitmap, a USB value, a
    position or 32 bits of a filter.  The next block can be taken when the last field has been
    made.  ``i.ready`` depends on flip-flops only.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(block_layout(params)))``
        Blocks; at least one of their sets is not empty.
    o : ``Out(stream.Signature(flit_layout))``
        Messages.
    o_idle : ``Out(1)``
        No block and no part of a message is here.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(block_layout(params))),
            "o": Out(stream.Signature(struct_layout(params.flit_layout))),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        is_hashed = self._params.form is Form.HASHED
        m.submodules.encoder = encoder = (SignatureEncoder if is_hashed else SetEncoder)(
            self._params
        )
        m.submodules.register = register = StreamRegister(Field)
        m.submodules.packer = packer = BitPacker(self._params)
        wiring.connect(m, register.o, packer.i)
        wiring.connect(m, packer.o, wiring.flipped(self.o))

        header = Signal(self._params.header_layout.width)
        timestamp = Signal(self._params.timestamp_width)
        write = Signal(set_layout(self._params))  # the read set goes to the encoder at once
        is_idle = Signal()
        m.d.comb += [
            self.o_idle.eq(is_idle & ~register.o.valid & packer.o_is_empty),
            encoder.i.payload.eq(Mux(is_idle, self.i.payload.read, write)),
        ]
        with m.FSM(init="IDLE"):
            with m.State("IDLE"):
                m.d.comb += [is_idle.eq(1), self.i.ready.eq(1), encoder.i.valid.eq(self.i.valid)]
                with m.If(self.i.valid):
                    m.d.sync += [
                        header.eq(self.i.payload.header),
                        timestamp.eq(self.i.payload.timestamp),
                        write.eq(self.i.payload.write),
                    ]
                    m.next = "HEADER"
            with m.State("HEADER"):
                with m.If(put_field(m, register.i, header, FLIT_BITS)):
                    m.next = "TIMESTAMP"
            self._elaborate_timestamp(m, timestamp, register.i)
            self._elaborate_sets(m, encoder, register.i)
        return m

    def _elaborate_timestamp(self, m: Module, timestamp: Signal, port):
        """One counter a cycle, number 0 first."""
        bits = self._params.timestamp_bits
        number = Signal(range(max(2, self._params.threads)))
        with m.State("TIMESTAMP"):
            with m.If(put_field(m, port, timestamp[:bits], bits)):
                m.d.sync += [timestamp.eq(timestamp >> bits), number.eq(number + 1)]
                with m.If(number == self._params.threads - 1):
                    m.d.sync += number.eq(0)
                    m.next = "READ"

    def _elaborate_sets(self, m: Module, encoder, port):
        """The encoder makes the fields; the write set follows the read set."""
        made = encoder.o.payload
        for state, is_end in (("READ", 0), ("WRITE", made.last)):
            with m.State(state):
                is_taken = put_field(
                    m, port, made.data, made.width, is_end=is_end, is_there=encoder.o.valid
                )
                m.d.comb += encoder.o.ready.eq(port.ready)
                with m.If(is_taken & made.last):
                    m.next = "TURN" if state == "READ" else "DONE"
        with m.State("TURN"):
            m.d.comb += encoder.i.valid.eq(1)
            with m.If(encoder.i.ready):
                m.next = "WRITE"
        with m.State("DONE"):
            with m.If(encoder.i.ready):
                m.next = "IDLE"
