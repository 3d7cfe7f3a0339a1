"""Report writer: race reports into a ring buffer in memory.

Ref: ScoRD (ISCA'20) Section IV (races are reported to the host through a buffer in memory).
"""

from __future__ import annotations

from amaranth.hdl import Const, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.axi import AxiBurst
from racetrap.golden_model.layout import Layout
from racetrap.rtl.common.axi import Axi4WriteSignature, is_error
from racetrap.rtl.common.layout import struct_layout

#: Bytes of a record in the ring buffer.
RECORD_BYTES = 32
_DATA_BITS = 64
_BEATS = 8 * RECORD_BYTES // _DATA_BITS
#: AXI's code for beats of eight bytes.
_BEAT_SIZE = (_DATA_BITS // 8).bit_length() - 1


class ReportWriter(wiring.Component):
    """Numbers each report and writes it to the ring as one burst of four 64-bit beats.

    A report is dropped while the ring is full, so the detector never waits for software; its number
    is skipped, so software sees the gap.  One burst is in flight at a time: a report takes six
    cycles with a memory that answers at once, a dropped one a single cycle. A record counts as
    written when its response arrives; after an error response its slot is reused for the next
    record and the report counts as dropped.  Records are aligned to their size, so no burst crosses
    4 KiB. Address and data go out independently; no output depends combinationally on an input.

    Parameters
    ----------
    layout : Layout
        Layout of a report, at most 256 bits, with 32 of them in a field ``sequence``.
    address_bits : int
        Bits of the memory's byte addresses.

    Members
    -------
    i : ``In(stream.Signature(layout))``
        Reports; their ``sequence`` is filled in here.
    m_axi : ``Out(Axi4WriteSignature)``
        Memory of the ring buffer; all writes have id 0.
    i_base : ``In(address_bits)``
        Byte address of the ring; a multiple of 32.
    i_capacity_log2 : ``In(5)``
        Log2 of the records that the ring holds.
    i_tail : ``In(32)``
        Records that software has read.
    o_head : ``Out(32)``
        Records written since reset.
    o_full : ``Out(1)``
        The ring is full.
    o_dropped, o_write_error : ``Out(1)``
        Pulses: a report is lost; it is lost because of an error response.
    o_written : ``Out(1)``
        Pulse: a record has been written.
    o_idle : ``Out(1)``
        No report is held here.
    """

    def __init__(self, layout: Layout, address_bits: int):
        self._shape = struct_layout(layout)
        super().__init__({
            "i": In(stream.Signature(self._shape)),
            "m_axi": Out(
                Axi4WriteSignature(
                    address_bits=address_bits, data_bits=_DATA_BITS, id_bits=1
                )
            ),
            "i_base": In(address_bits),
            "i_capacity_log2": In(5),
            "i_tail": In(32),
            "o_head": Out(32),
            "o_full": Out(1),
            "o_written": Out(1),
            "o_dropped": Out(1),
            "o_write_error": Out(1),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        axi = self.m_axi
        record = Signal(8 * RECORD_BYTES)
        beat = Signal(range(_BEATS))
        m.d.comb += [
            axi.awlen.eq(_BEATS - 1),
            axi.awsize.eq(_BEAT_SIZE),
            axi.awburst.eq(AxiBurst.INCR),
            axi.wstrb.eq(~0),
            axi.wdata.eq(record[:_DATA_BITS]),
            axi.wlast.eq(beat == _BEATS - 1),
        ]
        # A tail beyond the head is a software error; the ring then counts as full.
        waiting = (self.o_head - self.i_tail)[:32]
        m.d.comb += self.o_full.eq((waiting >> self.i_capacity_log2) != 0)
        with m.If(axi.awready):
            m.d.sync += axi.awvalid.eq(0)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += [self.i.ready.eq(1), self.o_idle.eq(1)]
                with m.If(self.i.valid):
                    self._accept_report(m, record)
                    with m.If(self.o_full):
                        m.d.comb += self.o_dropped.eq(1)
                    with m.Else():
                        m.d.sync += [axi.awvalid.eq(1), axi.wvalid.eq(1), beat.eq(0)]
                        m.next = "WRITE"
            with m.State("WRITE"):
                with m.If(axi.wready):
                    m.d.sync += [record.eq(record >> _DATA_BITS), beat.eq(beat + 1)]
                    with m.If(axi.wlast):
                        m.d.sync += axi.wvalid.eq(0)
                        m.next = "RESPONSE"
            with m.State("RESPONSE"):
                m.d.comb += axi.bready.eq(1)
                with m.If(axi.bvalid):
                    self._accept_response(m)
                    m.next = "IDLE"
        return m

    def _accept_report(self, m: Module, record: Signal) -> None:
        """Take a report, and register its number and address."""
        sequence = Signal(32)
        numbered = Signal(self._shape)
        place = self.o_head & ~(Const(-1, 32) << self.i_capacity_log2)[:32]
        m.d.comb += [numbered.eq(self.i.payload), numbered.sequence.eq(sequence)]
        m.d.sync += [
            sequence.eq(sequence + 1),
            record.eq(Value.cast(numbered)),
            self.m_axi.awaddr.eq(self.i_base + (place << (RECORD_BYTES.bit_length() - 1))),
        ]

    def _accept_response(self, m: Module) -> None:
        """Write response."""
        failed = is_error(self.m_axi.bresp)
        m.d.comb += [
            self.o_written.eq(~failed),
            self.o_write_error.eq(failed),
            self.o_dropped.eq(failed),
        ]
        m.d.sync += self.o_head.eq(self.o_head + ~failed)
