"""Granule splitter: from transactions of a line to segments, or single words.

Ref: ScoRD (ISCA'20) Section IV (accesses are checked word by word), Table VII (granularity).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.gpu.params import WORD_BYTES, WORDS_PER_LINE
from racetrap.golden_model.scord.packets import TransactionKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.bits import lowest_set
from racetrap.rtl.common.layout import struct_layout

_LINE_INDEX_BITS = WORDS_PER_LINE.bit_length() - 1


def item_layout(params: ScordParams) -> data.StructLayout:
    """Words of one segment of a transaction, or one word: its lock bit is that of the word.

    ``word`` is the lowest of them, ``lanes`` the banks of the segment's port that have one. A
    ``BLOCK_START`` gives one item for each warp, named by ``warp``; a fence or a barrier gives one,
    with ``word`` 0.
    """
    return data.StructLayout({
        "kind": 3,
        "scope": 1,
        "strong": 1,
        "op": 2,
        "slot": params.slot_bits,
        "warp": params.warp_bits,
        "pc": params.pc_bits,
        "word": params.word_bits,
        "lanes": params.segment_layout.fields["lanes"],
        "lock": 1,
        "is_last": 1 if params.slot_generation_bits else 0,
    })  # fmt: skip


class GranuleSplitter(wiring.Component):
    """Outputs the words of a transaction by segments, lowest first.

    For loads and stores the lowest word of each granule stands for it; for atomics every word
    counts.  A segment is the granules of ``words_per_cycle`` entries; but an atomic that touches a
    lock, or granules of several words, is output word by word, since each word may change the locks
    that the next one sees, or have the same entry. The first segment follows one cycle after its
    transaction; then comes one each cycle, also across transactions.  A transaction with an empty
    mask gives nothing and takes no cycle of the output.  ``i.ready`` does not depend on
    ``i.valid``.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(transaction_layout))``
        Transactions.
    o : ``Out(stream.Signature(item_layout(params)))``
        Segments.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        # Words of a line, or warps of an SM.
        self._most = WORDS_PER_LINE if params.warps_per_sm <= WORDS_PER_LINE else 2 * WORDS_PER_LINE
        super().__init__({
            "i": In(stream.Signature(struct_layout(params.transaction_layout))),
            "o": Out(stream.Signature(item_layout(params))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        transaction = Signal(self.i.payload.shape(), reset_less=True)
        remaining = Signal(self._most)  # 0: there is no transaction
        index = Signal(range(self._most))
        others = self._elaborate_segment(m, transaction, remaining, index)

        m.d.comb += [
            self.o.valid.eq(remaining.any()),
            self.i.ready.eq(~others.any() & (~self.o.valid | self.o.ready)),
        ]
        with m.If(self.i.ready):
            m.d.sync += remaining.eq(0)
            with m.If(self.i.valid):
                m.d.sync += transaction.eq(self.i.payload)
                self._elaborate_start(m, remaining)
        with m.Elif(self.o.ready):
            m.d.sync += remaining.eq(others)

        for name in ("kind", "scope", "strong", "op", "slot", "warp", "pc"):
            m.d.comb += self.o.payload[name].eq(transaction[name])
        m.d.comb += self.o.payload.lock.eq(
            transaction.lock_mask.bit_select(index[:_LINE_INDEX_BITS], 1)
        )
        if self._params.slot_generation_bits:
            m.d.comb += self.o.payload.is_last.eq(~others.any())
        with m.Switch(transaction.kind):
            with m.Case(TransactionKind.BLOCK_START):
                m.d.comb += self.o.payload.warp.eq(index)
            with m.Case(TransactionKind.LOAD, TransactionKind.STORE, TransactionKind.ATOMIC):
                m.d.comb += self.o.payload.word.eq(Cat(index[:_LINE_INDEX_BITS], transaction.line))
        return m

    def _elaborate_segment(self, m: Module, transaction, remaining: Signal, index: Signal) -> Value:
        """First word and lanes of the segment at the output; returns the words after it."""
        m.d.comb += index.eq(lowest_set(remaining))
        without_lowest = remaining & (remaining - 1)
        lanes = self._params.words_per_cycle
        if lanes == 1:
            return without_lowest
        words = self._params.granularity // WORD_BYTES
        size = lanes * words
        number = index[size.bit_length() - 1 :]
        segment = remaining.word_select(number, size)
        # No word of an earlier segment remains.
        others = [
            Mux(number == other, 0, remaining.word_select(other, size))
            for other in range(len(remaining) // size)
        ]
        by_word = Signal()
        m.d.comb += [
            by_word.eq(
                (transaction.kind == TransactionKind.BLOCK_START)
                | (transaction.kind == TransactionKind.ATOMIC)
                & (transaction.lock_mask.any() | (words > 1))
            ),
            self.o.payload.lanes.eq(
                Mux(
                    by_word,
                    1 << (index >> words.bit_length() - 1)[: self._params.lane_bits],
                    segment[::words],
                )
            ),
        ]
        return Mux(by_word, without_lowest, Cat(*others))

    def _elaborate_start(self, m: Module, remaining: Signal):
        """Words of a new transaction to be output."""
        mask = self.i.payload.mask
        with m.Switch(self.i.payload.kind):
            with m.Case(TransactionKind.LOAD, TransactionKind.STORE):
                words = self._params.granularity // WORD_BYTES
                m.d.sync += remaining.eq(
                    Cat(
                        Cat(mask[first : first + words].any(), Const(0, words - 1))
                        for first in range(0, WORDS_PER_LINE, words)
                    )
                )
            with m.Case(TransactionKind.ATOMIC):
                m.d.sync += remaining.eq(mask)
            with m.Case(TransactionKind.BLOCK_START):
                warps = Cat(mask, self.i.payload.lock_mask)
                m.d.sync += remaining.eq(warps[: self._params.warps_per_sm])
            with m.Case(TransactionKind.FENCE, TransactionKind.BARRIER):
                m.d.sync += remaining.eq(1)
