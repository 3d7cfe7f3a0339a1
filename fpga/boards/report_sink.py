"""End of the report ring on a board without memory: records become a stream."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.rtl.common.axi import Axi4WriteSignature
from racetrap.rtl.common.report_writer import RECORD_BYTES
from racetrap.rtl.common.stream import StreamFifo, StreamRegister

_DATA_BITS = 64
_BEATS = 8 * RECORD_BYTES // _DATA_BITS


class ReportSink(wiring.Component):
    """AXI4 write subordinate that passes the report writer's bursts on as whole records.

    Addresses are ignored: records come out in the order in which they were written.  A burst is
    answered when its last beat is stored, so a report counts as written only when it can no longer
    be lost.  A full sink stalls the writer.  Beats enter one a cycle; a record is offered at least
    four cycles after its last beat.  While a record is offered the next one is assembled: a
    consumer that takes five cycles or more for each always sees whether others wait.

    Parameters
    ----------
    address_bits : int
        Width of the port's addresses.
    depth : int
        Records held, besides the one offered and the one being assembled.

    Members
    -------
    s_axi : ``In(Axi4WriteSignature)``
        From ``m_axi_report`` of the system, 64-bit data.
    o_record : ``Out(stream.Signature(256))``
        Records, in order.
    o_taken : ``Out(1)``
        Pulse: a record has been stored.

    Raises
    ------
    ValueError
        If ``depth`` is less than 1.
    """

    def __init__(self, *, address_bits: int, depth: int):
        if depth < 1:
            raise ValueError(f"Sink depth must be at least 1, not {depth}")
        self._depth = depth
        super().__init__({
            "s_axi": In(
                Axi4WriteSignature(address_bits=address_bits, data_bits=_DATA_BITS, id_bits=1)
            ),
            "o_record": Out(stream.Signature(8 * RECORD_BYTES)),
            "o_taken": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        axi = self.s_axi
        m.submodules.beats = beats = StreamFifo(_DATA_BITS, self._depth * _BEATS)
        is_open = Signal()  # the address of the burst in flight has been taken
        m.d.comb += [
            axi.awready.eq(~is_open & ~axi.bvalid),
            beats.i.payload.eq(axi.wdata),
            beats.i.valid.eq(axi.wvalid & is_open),
            axi.wready.eq(beats.i.ready & is_open),
            self.o_taken.eq(axi.wvalid & axi.wready & axi.wlast),
        ]
        with m.If(axi.awvalid & axi.awready):
            m.d.sync += [is_open.eq(1), axi.bid.eq(axi.awid)]
        with m.If(self.o_taken):
            m.d.sync += [is_open.eq(0), axi.bvalid.eq(1)]
        with m.Elif(axi.bready):
            m.d.sync += axi.bvalid.eq(0)
        self._elaborate_records(m, beats)
        return m

    def _elaborate_records(self, m: Module, beats: StreamFifo) -> None:
        """Shift the beats of a record into one word, first beat lowest."""
        m.submodules.record = record = StreamRegister(8 * RECORD_BYTES)
        wiring.connect(m, record.o, wiring.flipped(self.o_record))
        word = Signal(8 * RECORD_BYTES)
        count = Signal(range(_BEATS + 1))
        is_whole = count == _BEATS
        m.d.comb += [
            record.i.payload.eq(word),
            record.i.valid.eq(is_whole),
            beats.o.ready.eq(~is_whole),
        ]
        with m.If(beats.o.valid & beats.o.ready):
            m.d.sync += [word.eq(Cat(word[_DATA_BITS:], beats.o.payload)), count.eq(count + 1)]
        with m.Elif(is_whole & record.i.ready):
            m.d.sync += count.eq(0)
