"""Notice order: the collector takes notices in the order in which their packets were sent.

What a warp has met must be known before it is what another warp learns, whatever banks the two
accesses are in: q reads x in one bank, then writes y in another, where r reads it.  Each of these
packets leaves the interleaver's input after the one before, so their numbers grow.

Ref: ScoRD (ISCA'20) Section VI; the order of fences as in the PTX memory model.
"""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamFifo

#: Packets that a bank may have beside those in its FIFO and in its metadata accessor.
_STAGES = 16
#: Times that a bank's packets may be taken elsewhere while one of them is in flight.
_PATIENCE = 16


def packets_in_flight(params: CausalityParams) -> int:
    """Packets of a bank, at most, from the mark keeper until they are done, or taken as notices."""
    return params.packet_fifo_depth + params.outstanding + _STAGES


def number_bits(params: CausalityParams) -> int:
    """Bits of a packet's number, which wraps: twice as many as are distinguished."""
    return (_PATIENCE * packets_in_flight(params) - 1).bit_length() + 1


class NoticeOrder(wiring.Component):
    """Lets a notice pass when no bank has an older packet that is not done.

    A packet's number is that of the cycles so far in which the interleaver has taken packets; it is
    kept here, beside the banks.  Numbers wrap.  Two are compared by the sign of their difference,
    which is right while they are less than half of all numbers apart: before the oldest packet in
    flight is so old, ``o_hold`` stops the interleaver.

    There is no deadlock.  The oldest packet in flight is in a check pipeline, or its notice is the
    first of its bank.  In the first case no notice is ahead of it in its bank, so the pipeline has
    room for one, and banks go on without further packets.  In the second case nothing is older, so
    the notice passes; the collector takes any that is offered.

    A notice that nothing older is ahead of passes in the cycle in which its bank offers it.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_taken : ``In(banks)``
        Pulse for each bank: the interleaver has taken a packet for it.
    o_hold : ``Out(1)``
        The interleaver must not take a packet.
    i_leaves : ``In(banks)``
        Pulse for each bank: its oldest packet has left the check pipeline.
    i_noticed : ``In(banks)``
        With that: the packet is a notice, which may come before or after.
    i_notice, o_notice : ``In`` and ``Out(stream.Signature(notice_layout)).array(banks)``
        Notices of each bank, and those that may be taken.
    o_idle : ``Out(1)``
        No packet is in flight.
    """

    def __init__(self, params: CausalityParams):
        self._params = params
        notice = stream.Signature(struct_layout(params.notice_layout))
        super().__init__({
            "i_taken": In(params.banks),
            "o_hold": Out(1),
            "i_leaves": In(params.banks),
            "i_noticed": In(params.banks),
            "i_notice": In(notice).array(params.banks),
            "o_notice": Out(notice).array(params.banks),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        if self._params.banks == 1:
            wiring.connect(m, wiring.flipped(self.i_notice[0]), wiring.flipped(self.o_notice[0]))
            m.d.comb += self.o_idle.eq(1)
            return m
        now = Signal(number_bits(self._params))
        with m.If(self.i_taken.any()):
            m.d.sync += now.eq(now + 1)
        numbers = []
        for bank in range(self._params.banks):
            m.submodules[f"numbers_{bank}"] = of_bank = PacketNumbers(self._params)
            m.d.comb += [
                of_bank.i_now.eq(now),
                of_bank.i_taken.eq(self.i_taken[bank]),
                of_bank.i_leaves.eq(self.i_leaves[bank]),
                of_bank.i_noticed.eq(self.i_noticed[bank]),
            ]
            numbers.append(of_bank)
        for bank in range(self._params.banks):
            self._elaborate_bank(m, bank, numbers)
        m.d.comb += [
            self.o_hold.eq(Cat(each.o_hold for each in numbers).any()),
            self.o_idle.eq(Cat(each.o_idle for each in numbers).all()),
        ]
        return m

    def _elaborate_bank(self, m: Module, bank: int, numbers: Sequence[PacketNumbers]) -> None:
        source, sink, first = self.i_notice[bank], self.o_notice[bank], numbers[bank].o_first
        others = (each.o_oldest for each in numbers if each is not numbers[bank])
        is_newer, may_pass = (
            Signal(len(numbers) - 1, name=f"is_newer_{bank}"), Signal(name=f"may_pass_{bank}")
        )  # fmt: skip
        m.d.comb += [
            is_newer.eq(Cat((other - first.payload)[len(other) - 1] for other in others)),
            may_pass.eq(first.valid & ~is_newer.any()),
            sink.payload.eq(source.payload),
            sink.valid.eq(source.valid & may_pass),
            source.ready.eq(sink.ready & may_pass),
            first.ready.eq(source.valid & source.ready),
        ]


class PacketNumbers(wiring.Component):
    """Numbers of a bank's packets that are not done.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_now : ``In(number_bits(params))``
        Number of a packet that is taken now.
    i_taken, i_leaves, i_noticed : ``In(1)``
        As those of ``NoticeOrder``.
    o_first : ``Out(stream.Signature(number_bits(params)))``
        Number of the first notice.
    o_oldest : ``Out(number_bits(params))``
        No packet that is not done has a lower number; it never falls.
    o_hold : ``Out(1)``
        There is no room for a further packet, or the oldest is too old.
    o_idle : ``Out(1)``
        No packet is in flight.
    """

    def __init__(self, params: CausalityParams):
        self._params = params
        bits = number_bits(params)
        super().__init__({
            "i_now": In(bits),
            "i_taken": In(1),
            "i_leaves": In(1),
            "i_noticed": In(1),
            "o_first": Out(stream.Signature(bits)),
            "o_oldest": Out(bits),
            "o_hold": Out(1),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params, bits = self._params, len(self.i_now)
        # One more than the mark keeper lets into a bank: the interleaver holds one.
        m.submodules.checked = checked = StreamFifo(bits, packets_in_flight(params) + 1)
        m.submodules.noticed = noticed = StreamFifo(bits, packets_in_flight(params) + 1)
        wiring.connect(m, noticed.o, wiring.flipped(self.o_first))
        age = Signal(bits)
        m.d.comb += [
            checked.i.valid.eq(self.i_taken),
            checked.i.payload.eq(self.i_now),
            checked.o.ready.eq(self.i_leaves),
            noticed.i.valid.eq(self.i_leaves & self.i_noticed),
            noticed.i.payload.eq(checked.o.payload),
            age.eq(self.i_now - self.o_oldest),
            self.o_hold.eq(~checked.i.ready | (age >= (1 << (bits - 1)) - 1)),
            self.o_idle.eq(checked.o_empty & noticed.o_empty),
        ]
        # What has just entered a FIFO is not shown at once: until then the last answer holds.
        with m.If(noticed.o.valid):
            m.d.sync += self.o_oldest.eq(noticed.o.payload)
        with m.Elif(noticed.o_empty & checked.o.valid):
            m.d.sync += self.o_oldest.eq(checked.o.payload)
        with m.Elif(self.o_idle):
            m.d.sync += self.o_oldest.eq(self.i_now)
        return m
