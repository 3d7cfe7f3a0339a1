"""Tracker: the part of ScoRD in each SM, from transactions to packets.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6 (barrier ids and lock tables of the SM).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.events import AtomicOp
from racetrap.golden_model.scord.packets import TransactionKind
from racetrap.golden_model.scord.params import LOCK_HASH_BITS, ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamRegister
from racetrap.rtl.scord.barrier_ids import BarrierIds, Generations
from racetrap.rtl.scord.fence_hold import FenceHold
from racetrap.rtl.scord.filter_encoder import FilterEncoder
from racetrap.rtl.scord.granule_splitter import GranuleSplitter, item_layout
from racetrap.rtl.scord.lock_hash import lock_hash_of
from racetrap.rtl.scord.lock_table import LockOperation, LockTables


class Tracker(wiring.Component):
    """Barrier ids, lock tables and, if there are any, generations of one SM.

    A transaction's first packet is valid three cycles after the transaction was taken; then
    comes one packet each cycle, also across transactions and for atomics of one warp.  From the
    cycle after a fence was taken until ``i_fenced`` no transaction of its warp is taken, nor a
    barrier of its block; those of other warps are.

    A transaction taken in or before the cycle of ``i_clear`` belongs to the previous launch: it is
    completed first.  ``o_busy`` rises in the cycle after ``i_clear`` and falls when tables and
    counters are clear, ``warps_per_sm`` + 1 cycles later if the tracker was idle; it is high after
    reset as well.

    No ``ready`` depends combinationally on a ``valid``.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_sm : ``In(sm_bits)``
        Number of the SM, a constant.
    i_block_masks : ``In(LOCK_HASH_BITS * blocks_per_sm)``
        ``block_masks_of`` the SM, a constant as well.
    i_transaction : ``In(stream.Signature(transaction_layout))``
        Transactions of the SM's coalescer.
    o_packet : ``Out(stream.Signature(segment_layout))``
        Packets for the interleaver, one for each segment.
    i_fenced : ``In(warps_per_sm)``
        Pulse for each warp: every bank has its fence.
    o_fencing : ``Out(warps_per_sm)``
        Warps with a fence in flight: an SM that offers none of their transactions is not stalled.
    i_enable : ``In(1)``
        Low: transactions are taken and ignored.
    i_clear : ``In(1)``
        Pulse: clear lock tables, barrier ids and generations.
    o_busy : ``Out(1)``
        Clearing; nothing is taken.
    o_idle : ``Out(1)``
        Not busy, and everything accepted is complete.
    o_quiescent : ``Out(1)``
        Nothing in the tracker changes at the next clock edge, except by reset: its clock may stop.
        It depends on all inputs.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        super().__init__({
            "i_sm": In(params.sm_bits),
            "i_block_masks": In(LOCK_HASH_BITS * params.blocks_per_sm),
            "i_transaction": In(stream.Signature(struct_layout(params.transaction_layout))),
            "o_packet": Out(stream.Signature(struct_layout(params.segment_layout))),
            "i_fenced": In(params.warps_per_sm),
            "o_fencing": Out(params.warps_per_sm),
            "i_enable": In(1),
            "i_clear": In(1),
            "o_busy": Out(1),
            "o_idle": Out(1),
            "o_quiescent": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        # Three pipeline stages: split, look up and update, packet.
        m.submodules.splitter = splitter = GranuleSplitter(params)
        m.submodules.lookup = lookup = StreamRegister(
            data.StructLayout({"item": item_layout(params), "hash": LOCK_HASH_BITS})
        )
        m.submodules.packet = packet = StreamRegister(struct_layout(params.segment_layout))
        m.submodules.lock_tables = lock_tables = LockTables(params)
        m.submodules.barrier_ids = barrier_ids = BarrierIds(params)
        if params.slot_generation_bits:
            m.submodules.generations = generations = Generations(params)
            self._elaborate_generations(m, lookup, packet, generations, lock_tables)

        m.d.comb += [
            lookup.i.valid.eq(splitter.o.valid),
            lookup.i.payload.item.eq(splitter.o.payload),
            lookup.i.payload.hash.eq(lock_hash_of(splitter.o.payload.word)),
            splitter.o.ready.eq(lookup.i.ready),
            lock_tables.i_fetch.eq(lookup.i.valid & lookup.i.ready),
            lock_tables.i_warp.eq(splitter.o.payload.warp),
        ]
        wiring.connect(m, packet.o, wiring.flipped(self.o_packet))

        self._elaborate_input(m, splitter)
        self._elaborate_update_stage(m, lookup, packet, lock_tables, barrier_ids)
        self._elaborate_packet_stage(m, lookup.o.payload.item, packet, lock_tables, barrier_ids)

        holds_packet = splitter.o.valid | lookup.o.valid | packet.o.valid
        is_empty = ~(holds_packet | self.o_fencing.any())
        m.d.comb += self.o_idle.eq(is_empty & ~self.o_busy)
        self._elaborate_clear(m, is_empty, lock_tables, barrier_ids)
        # If the splitter's word waits, both stages behind it are full, and wait too.
        waits = splitter.o.valid & ~splitter.o.ready
        sleeps = ~holds_packet & ~self.o_busy & ~splitter.i.valid
        changes = self.i_clear | self.i_fenced.any()
        m.d.comb += self.o_quiescent.eq((waits | sleeps) & ~changes)
        return m

    def _elaborate_input(self, m: Module, splitter: GranuleSplitter):
        """Input side: transactions that must follow a fence in flight wait."""
        transaction = self.i_transaction
        m.submodules.fence_hold = hold = FenceHold(self._params)
        waits = Signal()
        is_fence = transaction.payload.kind == TransactionKind.FENCE
        m.d.comb += [
            hold.i_warp.eq(transaction.payload.warp),
            hold.i_slot.eq(transaction.payload.slot),
            hold.i_fenced.eq(self.i_fenced),
            self.o_fencing.eq(hold.o_fencing),
            splitter.i.payload.eq(transaction.payload),
            splitter.i.valid.eq(transaction.valid & ~self.o_busy & self.i_enable & ~waits),
            transaction.ready.eq(~self.o_busy & (~self.i_enable | (splitter.i.ready & ~waits))),
            hold.i_start.eq(splitter.i.valid & splitter.i.ready & is_fence),
        ]
        with m.Switch(transaction.payload.kind):
            with m.Case(TransactionKind.BARRIER):  # of all warps of a block
                m.d.comb += waits.eq(hold.o_block_waits)
            with m.Case(TransactionKind.BLOCK_START):  # of none
                m.d.comb += waits.eq(0)
            with m.Default():
                m.d.comb += waits.eq(hold.o_warp_waits)

    def _elaborate_update_stage(self, m: Module, lookup, packet, lock_tables, barrier_ids):
        """Second stage: an item leaves with its packet, if it has one, and updates the tables."""
        item = lookup.o.payload.item
        has_packet = Signal()
        is_barrier = item.kind == TransactionKind.BARRIER
        m.d.comb += [
            has_packet.eq(~is_barrier & (item.kind != TransactionKind.BLOCK_START)),
            packet.i.valid.eq(lookup.o.valid & has_packet),
            lookup.o.ready.eq(~has_packet | packet.i.ready),
            lock_tables.i_commit.eq(lookup.o.valid & lookup.o.ready),
            lock_tables.i_hash.eq(lookup.o.payload.hash),
            lock_tables.i_scope.eq(item.scope),
            barrier_ids.i_slot.eq(item.slot),
            barrier_ids.i_increment.eq(lookup.o.valid & is_barrier),
        ]
        operation = lock_tables.i_operation
        with m.Switch(item.kind):
            with m.Case(TransactionKind.FENCE):
                m.d.comb += operation.eq(LockOperation.FENCE)
            with m.Case(TransactionKind.BLOCK_START):
                m.d.comb += operation.eq(LockOperation.EMPTY)
            with m.Case(TransactionKind.ATOMIC):
                with m.If(item.lock & (item.op == AtomicOp.CAS)):
                    m.d.comb += operation.eq(LockOperation.INSERT)
                with m.If(item.lock & (item.op == AtomicOp.EXCH)):
                    m.d.comb += operation.eq(LockOperation.REMOVE)

    def _elaborate_packet_stage(self, m: Module, item, packet, lock_tables, barrier_ids):
        """Packet of an item: the lock filter is the one before the item's own update."""
        params = self._params
        m.submodules.filter_encoder = filter_encoder = FilterEncoder(params)
        payload = packet.i.payload
        m.d.comb += [
            filter_encoder.i_table.eq(lock_tables.o_table),
            filter_encoder.i_block_mask.eq(
                self.i_block_masks.word_select(item.slot, LOCK_HASH_BITS)
            ),
            payload.kind.eq(item.kind),
            payload.scope.eq(item.scope),
            payload.block.eq(Cat(item.slot, self.i_sm)),
            payload.warp.eq(item.warp),
        ]
        with m.If(item.kind != TransactionKind.FENCE):
            m.d.comb += [
                payload.pc.eq(item.pc),
                payload.strong.eq(item.strong),
                payload.barrier_id.eq(barrier_ids.o_barrier_id),
                payload.filter.eq(filter_encoder.o_filter),
                payload.word.eq(item.word),
                payload.lanes.eq(item.lanes),
            ]

    def _elaborate_generations(self, m: Module, lookup, packet, generations, lock_tables):
        """Packets carry the generation of their block; a start counts with its last warp."""
        item = lookup.o.payload.item
        is_start = (item.kind == TransactionKind.BLOCK_START) & item.is_last
        m.d.comb += [
            generations.i_slot.eq(item.slot),
            generations.i_increment.eq(lookup.o.valid & is_start),
            generations.i_clear.eq(lock_tables.i_clear),
        ]
        with m.If(item.kind != TransactionKind.FENCE):
            m.d.comb += packet.i.payload.generation.eq(generations.o_generation)

    def _elaborate_clear(self, m: Module, is_empty, lock_tables, barrier_ids):
        """Clear when the pipeline is empty, so that no older update follows."""
        is_requested = Signal()
        start = Signal()
        m.d.comb += [
            start.eq(is_requested & is_empty & ~lock_tables.o_busy),
            lock_tables.i_clear.eq(start),
            barrier_ids.i_clear.eq(start),
            self.o_busy.eq(is_requested | lock_tables.o_busy),
        ]
        with m.If(self.i_clear):
            m.d.sync += is_requested.eq(1)
        with m.Elif(start):
            m.d.sync += is_requested.eq(0)
