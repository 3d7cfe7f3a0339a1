"""Access buffer: a bounded queue between an SM's load/store unit and its tracker.

Ref: ScoRD (ISCA'20) Section V (LHD: the load/store unit waits for the detector).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.gpu.params import WORD_BYTES, WORDS_PER_LINE
from racetrap.golden_model.scord.packets import TransactionKind
from racetrap.golden_model.scord.params import AccessPolicy, ScordParams
from racetrap.rtl.common.bits import total
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamFifo


class AccessBuffer(wiring.Component):
    """Passes transactions on in order; the policy may skip accesses.

    With ``stall`` none is skipped: the load/store unit waits while the buffer is full.  With
    ``drop`` accesses are skipped while the buffer is full.  With ``sample`` only accesses to one of
    ``2**sample_log2`` lines are kept, and may wait.  Atomics that take or free a lock, fences,
    barriers and starts of blocks are never skipped, but wait.

    Latency is that of ``StreamFifo``, throughput one transaction a cycle.  ``i.ready`` depends on
    ``i.payload`` and flip-flops, not on ``i.valid``.

    Parameters
    ----------
    params : ScordParams
        Configuration, with an access buffer.

    Members
    -------
    i, o : ``In(stream.Signature(transaction_layout))``, ``Out(...)``
        Transactions of the load/store unit, and those for the tracker.
    i_enable : ``In(1)``
        Low: nothing is skipped, since the tracker ignores everything.
    o_fencing : ``Out(warps_per_sm)``
        Warps with a fence in the buffer.
    o_left_out : ``Out(1)``
        The transaction taken in this cycle is skipped.
    o_count : ``Out(range(33))``
        Accesses skipped in the cycle before, in words as the banks count.
    o_idle : ``Out(1)``
        Nothing is in the buffer.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        transaction = stream.Signature(struct_layout(params.transaction_layout))
        super().__init__({
            "i": In(transaction),
            "o": Out(transaction),
            "i_enable": In(1),
            "o_fencing": Out(params.warps_per_sm),
            "o_left_out": Out(1),
            "o_count": Out(range(WORDS_PER_LINE + 1)),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        transaction = struct_layout(self._params.transaction_layout)
        m.submodules.queue = queue = StreamFifo(transaction, self._params.access_buffer_depth)
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        leave_out = Signal()
        m.d.comb += [
            leave_out.eq(self.i_enable & self._leaves_out(queue.i.ready)),
            queue.i.payload.eq(self.i.payload),
            queue.i.valid.eq(self.i.valid & ~leave_out),
            self.i.ready.eq(queue.i.ready | leave_out),
            self.o_left_out.eq(self.i.valid & leave_out),
            self.o_idle.eq(queue.o_empty),
        ]
        m.d.sync += self.o_count.eq(Mux(self.o_left_out, self._words(), 0))
        self._elaborate_fencing(m, queue)
        return m

    def _leaves_out(self, has_room: Value) -> Value:
        """Whether the transaction at the input would be skipped."""
        params, transaction = self._params, self.i.payload
        is_plain = Cat(
            transaction.kind == TransactionKind.LOAD,
            transaction.kind == TransactionKind.STORE,
            (transaction.kind == TransactionKind.ATOMIC) & ~transaction.lock_mask.any(),
        ).any()
        if params.access_policy == AccessPolicy.STALL:
            return Const(0)
        if params.access_policy == AccessPolicy.DROP:
            return is_plain & ~has_room
        parts = [
            transaction.line[low : low + params.sample_log2]
            for low in range(0, len(transaction.line), params.sample_log2)
        ]
        columns = ([part[bit] for part in parts if bit < len(part)] for bit in range(len(parts[0])))
        return is_plain & Cat(Cat(column).xor() for column in columns).any()

    def _words(self) -> Value:
        """Accesses of the transaction at the input."""
        mask, words = self.i.payload.mask, self._params.granularity // WORD_BYTES
        granules = [mask[low : low + words].any() for low in range(0, WORDS_PER_LINE, words)]
        if words == 1:
            return total(granules)
        is_atomic = self.i.payload.kind == TransactionKind.ATOMIC
        return Mux(is_atomic, total(list(mask)), total(granules))

    def _elaborate_fencing(self, m: Module, queue: StreamFifo) -> None:
        """Make a warp wait for its fence from here on, not only once the tracker has it."""
        for warp in range(self._params.warps_per_sm):
            enters, leaves = (
                port.valid
                & port.ready
                & (port.payload.kind == TransactionKind.FENCE)
                & (port.payload.warp == warp)
                for port in (queue.i, queue.o)
            )
            with m.If(enters):
                m.d.sync += self.o_fencing[warp].eq(1)
            with m.Elif(leaves):
                m.d.sync += self.o_fencing[warp].eq(0)
