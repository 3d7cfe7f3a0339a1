"""Unit splitter: from transactions of a line to single words.

Ref: ScoRD (ISCA'20) Section IV (accesses are checked word by word), Table VII (granularity).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.packets import TransactionKind
from racetrap.golden_model.scord.params import WORD_BYTES, WORDS_PER_LINE, ScordParams
from racetrap.rtl.common.bits import lowest_set
from racetrap.rtl.common.layout import struct_layout

__all__ = ["GranuleSplitter", "item_layout"]


def item_layout(params: ScordParams) -> data.StructLayout:
    """One word of a transaction: its lock bit is that of the word.

    Of a ``BLOCK_START`` there is one item for each warp, named by ``warp``; of a fence or a
    barrier there is one, with ``word`` 0.
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
        "lock": 1,
    })  # fmt: skip


class GranuleSplitter(wiring.Component):
    """Hands out the words of a transaction, lowest first.

    For loads and stores the lowest word of each granule stands for it; for atomics
    every word counts.  The first word follows one cycle after its transaction; then comes one
    each cycle, also across transactions.  A transaction with an empty mask gives nothing and
    takes no cycle of the output.  ``i.ready`` does not depend on ``i.valid``.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(transaction_layout))``
        Transactions.
    o : ``Out(stream.Signature(item_layout(params)))``
        Words.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(struct_layout(params.transaction_layout))),
            "o": Out(stream.Signature(item_layout(params))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        transaction = Signal.like(self.i.payload)
        remaining = Signal(WORDS_PER_LINE)  # 0: there is no transaction
        others = remaining & (remaining - 1)

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

        index = Signal(range(WORDS_PER_LINE))
        m.d.comb += index.eq(lowest_set(remaining))
        for name in ("kind", "scope", "strong", "op", "slot", "warp", "pc"):
            m.d.comb += self.o.payload[name].eq(transaction[name])
        m.d.comb += self.o.payload.lock.eq(transaction.lock_mask.bit_select(index, 1))
        with m.Switch(transaction.kind):
            with m.Case(TransactionKind.BLOCK_START):
                m.d.comb += self.o.payload.warp.eq(index)
            with m.Case(TransactionKind.LOAD, TransactionKind.STORE, TransactionKind.ATOMIC):
                m.d.comb += self.o.payload.word.eq(Cat(index, transaction.line))
        return m

    def _elaborate_start(self, m: Module, remaining: Signal):
        """Which words of a new transaction are to be handed out."""
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
                m.d.sync += remaining.eq(mask[: self._params.warps_per_sm])
            with m.Case(TransactionKind.FENCE, TransactionKind.BARRIER):
                m.d.sync += remaining.eq(1)
