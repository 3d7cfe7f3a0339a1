"""Mark keeper: marks of fences wait in front of their bank, not in it.

Ref: ScoRD (ISCA'20) Section IV-A (a fence is counted behind what came before it).
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.packets import PacketKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.notice_order import packets_in_flight
from racetrap.rtl.common.layout import struct_layout


class MarkKeeper(wiring.Component):
    """Takes the marks out of a bank's packets, and gives each as a notice in its place.

    A mark's notice is offered in the cycle after it came if the bank holds nothing, else when all
    packets before it have left the bank's pipeline, and behind their notices.  Marks take no time
    of the bank's.  An SM has at most one mark here.  Before the number of packets ahead of the
    oldest mark could wrap, or when as many packets as ``packets_in_flight`` are on their way to
    the bank, in it, or come back as notices, no further packet enters it.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_packet, o_packet : ``In`` and ``Out(stream.Signature(segment_layout))``
        The bank's packets, and those that are no marks.
    i_leaves, i_noticed : ``In(1)``
        Pulse: the bank's oldest packet has left its pipeline, and with that whether it is a notice.
        It may be told before or after the notice comes.
    i_notice, o_notice : ``In`` and ``Out(stream.Signature(notice_layout))``
        The bank's notices, and these with marks.  Of a mark's notice ``packet.kind`` and
        ``packet.block`` alone have a meaning.
    o_idle : ``Out(1)``
        No mark is held here, and no packet is in flight.
    """

    def __init__(self, params: CausalityParams):
        self._params = params
        packet = stream.Signature(struct_layout(params.segment_layout))
        notice = stream.Signature(struct_layout(params.notice_layout))
        super().__init__({
            "i_packet": In(packet),
            "o_packet": Out(packet),
            "i_leaves": In(1),
            "i_noticed": In(1),
            "i_notice": In(notice),
            "o_notice": Out(notice),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        packet, is_mark, is_old = (
            self.i_packet.payload, Signal(name="is_mark"), Signal(name="is_old")
        )  # fmt: skip
        is_full = Signal(name="is_full")
        m.d.comb += [
            is_mark.eq(packet.kind == PacketKind.MARK),
            self.o_packet.payload.eq(packet),
            self.o_packet.valid.eq(self.i_packet.valid & ~is_mark & ~is_old & ~is_full),
            # There is a place for a mark of each SM.
            self.i_packet.ready.eq(is_mark | (self.o_packet.ready & ~is_old & ~is_full)),
        ]
        enters, leaves = Signal(name="enters"), self.i_leaves
        # Packets in flight are fewer than half of all numbers.
        most = packets_in_flight(self._params)
        entered, left = (Signal(range(2 * most + 2), name=name) for name in ("entered", "left"))
        in_flight = Signal(range(most + 1), name="in_flight")
        comes_back = Mux(self.i_noticed, 0, leaves) + (self.i_notice.valid & self.i_notice.ready)
        m.d.comb += is_full.eq(in_flight == most)
        m.d.sync += in_flight.eq(in_flight + enters - comes_back)
        m.d.comb += enters.eq(self.o_packet.valid & self.o_packet.ready)
        m.d.sync += [entered.eq(entered + enters), left.eq(left + leaves)]
        mark, has_mark, goes = self._elaborate_marks(m, entered)
        m.d.comb += is_old.eq(has_mark & ((entered - mark.before)[: len(entered) - 1].all()))
        may_go = self._elaborate_place(m, mark, left, has_mark, goes)
        self._elaborate_notices(m, mark, may_go, goes)
        m.d.comb += self.o_idle.eq(~has_mark & ~in_flight.any())
        return m

    def _elaborate_marks(self, m: Module, entered: Signal) -> tuple[data.View, Signal, Signal]:
        """The oldest mark with the number of packets before it, whether there is one, and a signal
        that takes it."""
        shape = data.StructLayout({"block": self._params.block_bits, "before": len(entered)})
        places = 1 << self._params.sm_bits
        m.submodules.marks = marks = Memory(shape=shape, depth=max(places, 2), init=[])
        write, read = marks.write_port(), marks.read_port(domain="comb")
        come, gone = (Signal(range(2 * max(places, 2)), name=name) for name in ("come", "gone"))
        has_mark, goes = Signal(name="has_mark"), Signal(name="mark_goes")
        packet = self.i_packet.payload
        m.d.comb += [
            write.en.eq(self.i_packet.valid & (packet.kind == PacketKind.MARK)),
            write.addr.eq(come), write.data.block.eq(packet.block), write.data.before.eq(entered),
            read.addr.eq(gone), has_mark.eq(come != gone),
        ]  # fmt: skip
        m.d.sync += [come.eq(come + write.en), gone.eq(gone + goes)]
        return read.data, has_mark, goes

    def _elaborate_place(self, m: Module, mark, left: Signal, has_mark: Signal, goes: Signal):
        """Whether all before the oldest mark has left the bank, and its notices have been taken."""
        is_taken = self.i_notice.valid & self.i_notice.ready
        # Notices of packets that have left, and of them those before the mark.
        places = range(packets_in_flight(self._params) + 1)
        self._noticed = noticed = Signal(places, name="noticed")
        before = Signal(places, name="before")
        has_left, is_counted = Signal(name="has_left"), Signal(name="is_counted")
        m.d.comb += has_left.eq(is_counted | ~(left - mark.before)[len(left) - 1])
        m.d.sync += noticed.eq(noticed + (self.i_leaves & self.i_noticed) - is_taken)
        with m.If(goes):
            m.d.sync += is_counted.eq(0)
        with m.Elif(has_mark & has_left):
            m.d.sync += [
                is_counted.eq(1), before.eq(Mux(is_counted, before, noticed) - is_taken)
            ]  # fmt: skip
        return has_mark & has_left & ~Mux(is_counted, before, noticed).any()

    def _elaborate_notices(self, m: Module, mark, may_go, goes: Signal) -> None:
        """What waits at the output stays there: no mark may go while a notice can be before it."""
        source, sink = self.i_notice, self.o_notice
        # It may come before it is known that a packet has become it.
        is_there = self._noticed.any()
        m.d.comb += [
            sink.payload.eq(source.payload),
            sink.valid.eq(may_go | (source.valid & is_there)),
            source.ready.eq(sink.ready & ~may_go & is_there),
            goes.eq(may_go & sink.ready),
        ]
        with m.If(may_go):
            m.d.comb += [
                sink.payload.packet.kind.eq(PacketKind.MARK),
                sink.payload.packet.block.eq(mark.block),
            ]
