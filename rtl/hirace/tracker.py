"""Tracker: the part of HiRace in each SM, from transactions to packets with their counts.

Ref: HiRace (SC'24): counts of the barriers that a thread has passed.
"""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.hirace.packets import TransactionKind
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamRegister


class SlotCounts(wiring.Component):
    """One wrapping count for each slot.

    ``o_count`` is combinational in ``i_slot``; an increment shows in the next cycle.

    Parameters
    ----------
    slots, bits : int
        Number of counts, and their width.

    Members
    -------
    i_slot : ``In(range(slots))``
        Slot that is read and incremented.
    i_increment : ``In(1)``
        Count one more.
    i_clear : ``In(1)``
        Set every count to 0.
    o_count : ``Out(bits)``
        Count of the slot.
    """

    def __init__(self, slots: int, bits: int):
        self._slots, self._bits = slots, bits
        super().__init__({
            "i_slot": In(range(slots)),
            "i_increment": In(1),
            "i_clear": In(1),
            "o_count": Out(bits),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        counts = Array(Signal(self._bits, name=f"count_{slot}") for slot in range(self._slots))
        m.d.comb += self.o_count.eq(counts[self.i_slot])
        with m.If(self.i_increment):
            m.d.sync += counts[self.i_slot].eq(self.o_count + 1)
        with m.If(self.i_clear):
            m.d.sync += [count.eq(0) for count in counts]
        return m


class Tracker(wiring.Component):
    """Counts of one SM, and the words of its lanes' accesses, one a cycle.

    A transaction's first packet is valid two cycles after the transaction was taken; then comes
    one each cycle, also across transactions.  A barrier or the start of a block takes a cycle.
    No ``ready`` depends combinationally on a ``valid``.

    Parameters
    ----------
    params : HiraceParams
        Configuration.

    Members
    -------
    i_sm : ``In(sm_bits)``
        Number of the SM, a constant.
    i_transaction : ``In(stream.Signature(transaction_layout))``
        Lane accesses and barriers of the SM.
    o_packet : ``Out(stream.Signature(segment_layout))``
        Packets for the interleaver.
    i_enable : ``In(1)``
        Low: transactions are taken and ignored.
    i_clear : ``In(1)``
        Pulse, while the tracker is idle: set all counts to 0.
    o_idle : ``Out(1)``
        Everything accepted is complete.
    """

    def __init__(self, params: HiraceParams):
        self._params = params
        super().__init__({
            "i_sm": In(params.sm_bits),
            "i_transaction": In(stream.Signature(struct_layout(params.transaction_layout))),
            "o_packet": Out(stream.Signature(struct_layout(params.segment_layout))),
            "i_enable": In(1),
            "i_clear": In(1),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        transaction = Signal(self.i_transaction.payload.shape(), reset_less=True)
        holds, is_access, leaves = (Signal(name=name) for name in ("holds", "is_access", "leaves"))
        passed = Signal.like(transaction.more)  # words that have left
        m.submodules.packet = packet = StreamRegister(struct_layout(params.segment_layout))
        wiring.connect(m, packet.o, wiring.flipped(self.o_packet))
        m.d.comb += [
            is_access.eq(transaction.kind <= TransactionKind.ATOMIC),
            packet.i.valid.eq(holds & is_access),
            leaves.eq(~is_access | (packet.i.ready & (passed == transaction.more))),
            self.i_transaction.ready.eq(~holds | leaves),
            self.o_idle.eq(~holds & ~packet.o.valid),
        ]
        with m.If(self.i_transaction.ready):
            m.d.sync += [
                holds.eq(self.i_transaction.valid & self.i_enable),
                transaction.eq(self.i_transaction.payload),
                passed.eq(0),
            ]
        with m.Elif(packet.i.ready):
            m.d.sync += passed.eq(passed + 1)
        self._elaborate_packet(m, transaction, passed, packet.i.payload)
        self._elaborate_counts(m, transaction, holds, packet.i.payload)
        return m

    def _elaborate_packet(self, m: Module, transaction, passed: Value, payload) -> None:
        for name in ("kind", "scope", "shared", "lane", "warp", "pc"):
            m.d.comb += payload[name].eq(transaction[name])
        m.d.comb += [
            payload.block.eq(Cat(transaction.slot, self.i_sm)),
            payload.word.eq(transaction.word + passed),
        ]

    def _elaborate_counts(self, m: Module, transaction, holds: Value, payload) -> None:
        params = self._params
        blocks, warps = params.blocks_per_sm, params.warps_per_sm
        for name, kind, slots, slot, bits in (
            ("barriers", TransactionKind.BARRIER, blocks, transaction.slot, params.barrier_bits),
            ("generations", TransactionKind.BLOCK_START, blocks, transaction.slot,
             params.generation_bits),
            ("warp_barriers", TransactionKind.WARP_BARRIER, warps, transaction.warp,
             params.warp_barrier_bits),
        ):  # fmt: skip
            m.submodules[name] = counts = SlotCounts(slots, bits)
            count = payload.generation if name == "generations" else payload[name]
            m.d.comb += [
                counts.i_slot.eq(slot),
                counts.i_increment.eq(holds & (transaction.kind == kind)),
                counts.i_clear.eq(self.i_clear),
                count.eq(counts.o_count),
            ]
