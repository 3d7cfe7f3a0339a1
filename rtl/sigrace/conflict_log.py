"""Conflict log: the blocks that conflict, and the reasons to request a rollback.

Ref: SigRace (ISCA'09) Section 3.3.1.
"""

from __future__ import annotations

from amaranth.hdl import Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.conflict_log import Reason
from racetrap.golden_model.sigrace.packets import Cause
from racetrap.golden_model.sigrace.params import WORD_BITS, SigraceParams
from racetrap.rtl.common.layout import struct_layout


class ConflictLog(wiring.Component):
    """Holds the first conflicts, for software to read word by word.

    A conflict is stored in one cycle.  A word is available two cycles after its selection.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_entry : ``In(stream.Signature(log_layout, always_ready=True))``
        Conflicts to log; none may come while the log is full.
    o_count : ``Out(range(log_depth + 1))``
        Conflicts logged.
    o_full : ``Out(1)``
        The log is full.
    i_pushed, i_thread, i_cause : ``In(1)``, ``In(8)``, ``In(3)``
        A message of this thread and with this cause has gone into its queue.
    i_clear : ``In(1)``
        Clear conflicts and reasons.
    o_reasons : ``Out(3)``
        ``Reason`` of the rollback request.
    i_select, i_word : ``In(16)``
        Conflict, oldest first, and its word.
    o_word : ``Out(32)``
        That word; 0 if there is none.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        super().__init__({
            "i_entry": In(stream.Signature(struct_layout(params.log_layout), always_ready=True)),
            "o_count": Out(range(params.log_depth + 1)),
            "o_full": Out(1),
            "i_pushed": In(1),
            "i_thread": In(8),
            "i_cause": In(3),
            "i_clear": In(1),
            "o_reasons": Out(3),
            "i_select": In(16),
            "i_word": In(16),
            "o_word": Out(WORD_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o_full.eq(self.o_count == self._params.log_depth)
        self._elaborate_entries(m)
        self._elaborate_reasons(m)
        with m.If(self.i_clear):
            m.d.sync += [self.o_count.eq(0), self.o_reasons.eq(0)]
        return m

    def _elaborate_entries(self, m: Module) -> None:
        params = self._params
        m.submodules.memory = memory = Memory(
            shape=params.log_words * WORD_BITS, depth=params.log_depth, init=[]
        )
        read, write = memory.read_port(), memory.write_port()
        exists = Signal()
        m.d.sync += exists.eq((self.i_select < self.o_count) & (self.i_word < params.log_words))
        m.d.comb += [
            write.addr.eq(self.o_count),
            write.data.eq(self.i_entry.p),
            write.en.eq(self.i_entry.valid),
            read.addr.eq(self.i_select),
            self.o_word.eq(Mux(exists, read.data.word_select(self.i_word, WORD_BITS), 0)),
        ]
        with m.If(self.i_entry.valid):
            m.d.sync += self.o_count.eq(self.o_count + 1)

    def _elaborate_reasons(self, m: Module) -> None:
        """The thread whose message found the first conflict counts its messages from then on."""
        most = self._params.log_blocks
        first = Signal(8)
        blocks = Signal(range(most + 1))
        with m.If(self.i_entry.valid & (self.o_count == 0)):
            m.d.sync += [first.eq(self.i_entry.p.thread), blocks.eq(0)]
        with m.If(self.i_pushed & (self.o_count != 0) & (self.i_thread == first)):
            # The message that found the conflict is number 0.
            m.d.sync += blocks.eq(Mux(blocks == most, most, blocks + 1))
            reasons = Mux(blocks == most, Const(Reason.BLOCKS, 3), 0) | Mux(
                self.i_cause == Cause.SYNC, Const(Reason.SYNC, 3), 0
            )
            m.d.sync += self.o_reasons.eq(self.o_reasons | reasons)
        with m.If(self.i_pushed & self.o_full):
            m.d.sync += self.o_reasons[Reason.FULL.bit_length() - 1].eq(1)
