"""Detection logic: the decision tables of loads, and of stores and atomics.

Ref: ScoRD (ISCA'20) Section IV-A, Tables III and IV.
"""

from functools import reduce
from operator import or_

from amaranth.hdl import Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.metadata import FILTER_MASK
from racetrap.golden_model.scord.packets import PacketKind, Preliminary, RaceKind, TableRow
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.scord.access_relation import AccessRelation
from racetrap.rtl.scord.fence_counters import fence_counters


class FenceStatus(data.Struct):
    """Scopes of the fences that a warp has executed since its access."""

    blk: 1
    dev: 1


def _one_of(conditions):
    """The code whose condition holds, 0 if none does; at most one may."""
    codes = (Const(code) for code in conditions)
    held = (condition.any() for condition in conditions.values())
    return reduce(or_, (Mux(holds, code, 0) for holds, code in zip(held, codes, strict=True)))


class DetectionLogic(wiring.Component):
    """Checks one access against one metadata entry.  Combinational.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_packet : ``In(packet_layout)``
        The access.
    i_entry : ``In(entry_layout)``
        Metadata entry as read or forwarded.
    i_uninitialised : ``In(1)``
        This is the first access since (re-)initialisation; the entry is ignored.
    i_tag : ``In(tag_bits)``
        Tag of the accessed address, for the entry after the access.
    i_relation : ``In(AccessRelation)``
        Relation of the access to the entry's last one; ``same_granule`` is ignored.
    i_fenced : ``In(FenceStatus)``
        Fences that the entry's owner has executed since.
    i_own : ``In(fence_counters(params))``
        Current fence counters of the accessing warp.
    o_row, o_preliminary, o_race : ``Out(5)``, ``Out(2)``, ``Out(3)``
        Row of the tables, preliminary check that held, race found.
    o_after : ``Out(entry_layout)``
        Entry after the access.
    o_owner_replaced : ``Out(1)``
        The accessing warp replaces the entry's owner.
    """

    def __init__(self, params: ScordParams):
        self._entry = struct_layout(params.entry_layout)
        super().__init__({
            "i_packet": In(struct_layout(params.packet_layout)),
            "i_entry": In(self._entry),
            "i_uninitialised": In(1),
            "i_tag": In(params.tag_bits),
            "i_relation": In(AccessRelation),
            "i_fenced": In(FenceStatus),
            "i_own": In(fence_counters(params)),
            "o_row": Out(5),
            "o_preliminary": Out(2),
            "o_race": Out(3),
            "o_after": Out(self._entry),
            "o_owner_replaced": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        self._is_load = self.i_packet.kind == PacketKind.LOAD
        rows = self._elaborate_rows(m)
        keeps_owner = Signal()
        m.d.comb += [
            keeps_owner.eq(rows[TableRow.LOAD_AFTER_READ] | rows[TableRow.LOAD_LOCKED]),
            self.o_owner_replaced.eq(~keeps_owner),
            self.o_row.eq(_one_of(rows)),
            self.o_preliminary.eq(_one_of({
                Preliminary.INITIALIZATION: self.i_uninitialised,
                Preliminary.BARRIER: (
                    ~self.i_uninitialised & (rows[TableRow.LOAD_FIRST] | rows[TableRow.STORE_FIRST])
                ),
                Preliminary.PROGRAM_ORDER: (
                    rows[TableRow.LOAD_PROGRAM_ORDER] | rows[TableRow.STORE_PROGRAM_ORDER]
                ),
            })),
        ]  # fmt: skip
        self._elaborate_race(m, rows)
        self._elaborate_next_entry(m, rows, keeps_owner)
        return m

    def _elaborate_rows(self, m):
        """The row of the tables that applies, one-hot.

        Fence counters and locks are known last: what does not need them is separate.
        """
        packet, entry, relation = self.i_packet, self.i_entry, self.i_relation
        is_load, is_known = self._is_load, ~self.i_uninitialised
        barrier_between, program_order, scoped_atomic = (
            Signal(name=name) for name in ("barrier_between", "program_order", "scoped_atomic")
        )
        is_checked, atomics, foreign_write, lockless = (
            Signal(name=name) for name in ("is_checked", "atomics", "foreign_write", "lockless")
        )
        both_strong = Signal()
        self._unfenced_write = Signal(name="unfenced_write")
        self._unfenced_owner = Signal(name="unfenced_owner")
        m.d.comb += [
            barrier_between.eq(
                is_known & relation.same_block & ~relation.same_barrier & ~entry.dev_shared
            ),
            program_order.eq(
                is_known & ~barrier_between
                & relation.own_warp & ~entry.blk_shared & ~entry.dev_shared
            ),
            scoped_atomic.eq(
                is_known & ~relation.same_block & entry.is_atom & (entry.scope == Scope.BLOCK)
            ),
            is_checked.eq(is_known & ~barrier_between & ~program_order & ~scoped_atomic),
            both_strong.eq(entry.strong & packet.strong),
            atomics.eq(entry.is_atom & (packet.kind == PacketKind.ATOMIC)),
            foreign_write.eq(entry.modified & ~relation.own_warp),
            lockless.eq(~relation.last_locked & ~relation.locked),
            # Before a read, the owner must have fenced its write; before a write, all its accesses.
            self._unfenced_write.eq(
                ~self.i_fenced.dev & (~relation.same_block | ~self.i_fenced.blk)
            ),
            self._unfenced_owner.eq(
                ~self.i_fenced.dev
                & (~relation.same_block | ~self.i_fenced.blk | entry.dev_shared)
            ),
        ]  # fmt: skip
        load, store = is_checked & is_load, is_checked & ~is_load & ~atomics
        read_races = foreign_write & (self._unfenced_write | ~both_strong)
        rightly_locked = relation.common_lock | ~entry.modified
        ordered = ~self._unfenced_owner & both_strong
        conditions = {
            TableRow.LOAD_FIRST: (self.i_uninitialised | barrier_between) & is_load,
            TableRow.LOAD_PROGRAM_ORDER: program_order & is_load,
            TableRow.LOAD_SCOPED_ATOMIC: scoped_atomic & is_load,
            TableRow.LOAD_UNFENCED_WRITE: load & read_races,
            TableRow.LOAD_FENCED_WRITE: load & ~read_races & lockless & entry.modified,
            TableRow.LOAD_AFTER_READ: load & lockless & ~entry.modified,
            TableRow.LOAD_NO_COMMON_LOCK: load & ~read_races & ~lockless & ~rightly_locked,
            TableRow.LOAD_LOCKED: load & ~read_races & ~lockless & rightly_locked,
            TableRow.STORE_FIRST: (self.i_uninitialised | barrier_between) & ~is_load,
            TableRow.STORE_PROGRAM_ORDER: program_order & ~is_load,
            TableRow.STORE_SCOPED_ATOMIC: scoped_atomic & ~is_load,
            TableRow.STORE_BOTH_ATOMIC: is_checked & ~is_load & atomics,
            TableRow.STORE_UNFENCED_ACCESS: store & self._unfenced_owner,
            TableRow.STORE_NOT_STRONG: store & ~self._unfenced_owner & ~both_strong,
            TableRow.STORE_FENCED_ACCESS: store & ordered & lockless,
            TableRow.STORE_NO_COMMON_LOCK: store & ordered & ~lockless & ~relation.common_lock,
            TableRow.STORE_LOCKED: store & ordered & ~lockless & relation.common_lock,
        }
        rows = {row: Signal(name=f"row_{row.name.lower()}") for row in conditions}
        m.d.comb += [rows[row].eq(condition) for row, condition in conditions.items()]
        return rows

    def _elaborate_race(self, m, rows):
        """Kind of the race of the rows that are races."""
        same_block = self.i_relation.same_block
        unfenced = (
            rows[TableRow.LOAD_UNFENCED_WRITE] & self._unfenced_write
            | rows[TableRow.STORE_UNFENCED_ACCESS]
        )
        m.d.comb += self.o_race.eq(_one_of({
            RaceKind.MISSING_BLOCK_FENCE: unfenced & same_block,
            RaceKind.MISSING_DEVICE_FENCE: unfenced & ~same_block,
            RaceKind.NOT_STRONG: (
                rows[TableRow.LOAD_UNFENCED_WRITE] & ~self._unfenced_write
                | rows[TableRow.STORE_NOT_STRONG]
            ),
            RaceKind.SCOPED_ATOMIC: (
                rows[TableRow.LOAD_SCOPED_ATOMIC] | rows[TableRow.STORE_SCOPED_ATOMIC]
            ),
            RaceKind.MISSING_LOCK: (
                rows[TableRow.LOAD_NO_COMMON_LOCK] | rows[TableRow.STORE_NO_COMMON_LOCK]
            ),
        }))  # fmt: skip

    def _elaborate_next_entry(self, m, rows, keeps_owner):
        """The entry after the access: of this access, or of the previous owner with one more
        reader."""
        packet, entry, after = self.i_packet, self.i_entry, self.o_after
        relation, fenced = self.i_relation, self.i_fenced
        of_packet = {
            "scope": packet.scope,
            "is_atom": packet.kind == PacketKind.ATOMIC,
            "barrier_id": packet.barrier_id,
            "blk_fence_id": self.i_own.blk,
            "dev_fence_id": self.i_own.dev,
            "warp": packet.warp,
            "block": packet.block,
            "tag": self.i_tag,
            "unused": 0,
        }
        if len(packet.generation):
            of_packet["generation"] = packet.generation
        for name, value in of_packet.items():
            m.d.comb += after[name].eq(Mux(keeps_owner, entry[name], value))
        # An unfenced write of the same warp must stay visible after its reads.
        still_unfenced = entry.modified & ~fenced.blk & ~fenced.dev
        by_own_warp = (
            rows[TableRow.LOAD_PROGRAM_ORDER] & still_unfenced
            | rows[TableRow.LOAD_FENCED_WRITE] & relation.own_warp
        )
        # A reader beside the owner: of its block, or of another one; LOAD_AFTER_READ is reached by
        # the owner itself only once the entry is shared already.
        shared_in_block = relation.same_block & (
            rows[TableRow.LOAD_AFTER_READ] & ~entry.dev_shared
            | rows[TableRow.LOAD_LOCKED]
            & (entry.blk_shared | ~relation.own_warp & ~entry.dev_shared)
        )
        shared_in_device = keeps_owner & (~relation.same_block | entry.dev_shared)
        merges = (
            rows[TableRow.STORE_LOCKED]
            | rows[TableRow.LOAD_LOCKED] & relation.last_locked & relation.locked
        )
        keeps_filter = (
            rows[TableRow.STORE_BOTH_ATOMIC]
            | rows[TableRow.LOAD_AFTER_READ]
            | rows[TableRow.LOAD_LOCKED] & relation.last_locked & ~relation.locked
        )
        m.d.comb += [
            after.modified.eq(~self._is_load | by_own_warp | keeps_owner & entry.modified),
            after.strong.eq(
                Mux(
                    keeps_owner,
                    entry.strong,
                    packet.strong & (entry.strong | ~rows[TableRow.LOAD_FENCED_WRITE]),
                )
            ),
            after.blk_shared.eq(
                rows[TableRow.STORE_BOTH_ATOMIC] & entry.blk_shared | shared_in_block
            ),
            after.dev_shared.eq(
                rows[TableRow.STORE_BOTH_ATOMIC] & entry.dev_shared | shared_in_device
            ),
            after.filter.eq(
                Mux(keeps_filter, FILTER_MASK, packet.filter)
                & Mux(keeps_filter | merges, entry.filter, FILTER_MASK)
            ),
        ]
