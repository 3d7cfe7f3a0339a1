"""Detection logic: the decision tables of loads, and of stores and atomics.

Ref: ScoRD (ISCA'20) Section IV-A, Tables III and IV.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.packets import PacketKind, Preliminary, RaceKind, Row, Scope
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.scord.access_relation import access_relation
from racetrap.rtl.scord.fence_file import fence_counters

__all__ = ["DetectionLogic", "fences_since"]


def fences_since() -> data.StructLayout:
    """Scopes of which a warp has executed a fence since its access."""
    return data.StructLayout({"blk": 1, "dev": 1})


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
    i_fresh : ``In(1)``
        This is the first access since (re-)initialisation; the entry is not looked at.
    i_tag : ``In(tag_bits)``
        Tag of the accessed address, for the entry left behind.
    i_relation : ``In(access_relation())``
        How the access stands to the entry's last one; ``same_unit`` is not looked at.
    i_fenced : ``In(fences_since())``
        Fences that the entry's owner has executed since.
    i_own : ``In(fence_counters(params))``
        Fence counters now of the accessing warp.
    o_row, o_preliminary, o_race : ``Out(5)``, ``Out(2)``, ``Out(3)``
        Row of the tables, preliminary check that held, race found.
    o_after : ``Out(entry_layout)``
        Entry left behind.
    o_taken : ``Out(1)``
        The entry's owner is now the accessing warp.
    """

    def __init__(self, params: ScordParams):
        self._entry = struct_layout(params.entry_layout)
        super().__init__({
            "i_packet": In(struct_layout(params.packet_layout)),
            "i_entry": In(self._entry),
            "i_fresh": In(1),
            "i_tag": In(params.tag_bits),
            "i_relation": In(access_relation()),
            "i_fenced": In(fences_since()),
            "i_own": In(fence_counters(params)),
            "o_row": Out(5),
            "o_preliminary": Out(2),
            "o_race": Out(3),
            "o_after": Out(self._entry),
            "o_taken": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        self._relations(m)
        self._take(m)
        m.d.comb += [self.o_after.eq(self._taken_entry), self.o_taken.eq(1)]
        is_load = self.i_packet.kind == PacketKind.LOAD
        with m.If(self.i_fresh):
            m.d.comb += [
                self.o_row.eq(Mux(is_load, Row.R1, Row.W1)),
                self.o_preliminary.eq(Preliminary.INITIALIZATION),
            ]
        with m.Elif(self._barrier_between):
            m.d.comb += [
                self.o_row.eq(Mux(is_load, Row.R1, Row.W1)),
                self.o_preliminary.eq(Preliminary.BARRIER),
            ]
        with m.Elif(self._own_warp & ~self.i_entry.blk_shared & ~self.i_entry.dev_shared):
            m.d.comb += [
                self.o_row.eq(Mux(is_load, Row.R2, Row.W2)),
                self.o_preliminary.eq(Preliminary.PROGRAM_ORDER),
            ]
            with m.If(is_load):
                # An unfenced write of the own warp must stay visible behind this read.
                m.d.comb += self.o_after.modified.eq(
                    self.i_entry.modified & ~self._blk_fenced & ~self._dev_fenced
                )
        with m.Elif(~self._same_block & self.i_entry.is_atom & (self.i_entry.scope == Scope.BLOCK)):
            self._race(m, Mux(is_load, Row.R3, Row.W3), RaceKind.SCOPED_ATOMIC)
        with m.Elif(is_load):
            self._load(m)
        with m.Else():
            self._store(m)
        return m

    def _relations(self, m):
        """How the access and the entry's last one stand to each other."""
        packet, entry = self.i_packet, self.i_entry
        relation = self.i_relation
        self._same_block = relation.same_block
        self._own_warp = relation.own_warp
        self._locked = relation.locked
        self._entry_locked = relation.last_locked
        self._common_lock = relation.common_lock
        self._blk_fenced = self.i_fenced.blk
        self._dev_fenced = self.i_fenced.dev
        self._barrier_between = Signal()
        self._both_strong = Signal()
        m.d.comb += [
            self._barrier_between.eq(self._same_block & ~relation.same_barrier & ~entry.dev_shared),
            self._both_strong.eq(entry.strong & packet.strong),
        ]

    def _take(self, m):
        """The entry that a first access would leave."""
        packet = self.i_packet
        self._taken_entry = taken = Signal(self._entry)
        m.d.comb += [
            taken.filter.eq(packet.filter),
            taken.strong.eq(packet.strong),
            taken.scope.eq(packet.scope),
            taken.is_atom.eq(packet.kind == PacketKind.ATOMIC),
            taken.modified.eq(packet.kind != PacketKind.LOAD),
            taken.barrier_id.eq(packet.barrier_id),
            taken.blk_fence_id.eq(self.i_own.blk),
            taken.dev_fence_id.eq(self.i_own.dev),
            taken.warp.eq(packet.warp),
            taken.block.eq(packet.block),
            taken.tag.eq(self.i_tag),
        ]

    def _race(self, m, row, kind: RaceKind):
        m.d.comb += [self.o_row.eq(row), self.o_race.eq(kind)]

    def _load(self, m):
        """Rows r4 to r8."""
        entry, after = self.i_entry, self.o_after
        foreign_write = entry.modified & ~self._own_warp
        with m.If(foreign_write & self._same_block & ~self._blk_fenced & ~self._dev_fenced):
            self._race(m, Row.R4, RaceKind.MISSING_BLOCK_FENCE)
        with m.Elif(foreign_write & ~self._same_block & ~self._dev_fenced):
            self._race(m, Row.R4, RaceKind.MISSING_DEVICE_FENCE)
        with m.Elif(foreign_write & ~self._both_strong):
            self._race(m, Row.R4, RaceKind.NOT_STRONG)
        with m.Elif(~self._entry_locked & ~self._locked & entry.modified):
            m.d.comb += [
                self.o_row.eq(Row.R5),
                after.modified.eq(self._own_warp),
                after.strong.eq(self._both_strong),
            ]
        with m.Elif(~self._entry_locked & ~self._locked):
            m.d.comb += [self.o_row.eq(Row.R6), self.o_taken.eq(0), after.eq(entry)]
            self._share(m, own_warp_shares=True)
        with m.Elif(entry.modified & ~self._common_lock):
            self._race(m, Row.R7, RaceKind.MISSING_LOCK)
        with m.Else():
            m.d.comb += [self.o_row.eq(Row.R8), self.o_taken.eq(0), after.eq(entry)]
            self._share(m, own_warp_shares=False)
            with m.If(~self._entry_locked):
                m.d.comb += after.filter.eq(self.i_packet.filter)
            with m.Elif(self._locked):
                m.d.comb += after.filter.eq(entry.filter & self.i_packet.filter)

    def _share(self, m, *, own_warp_shares: bool):
        """Note a reader beside the owner: of its block, or of another one."""
        entry, after = self.i_entry, self.o_after
        with m.If(~self._same_block):
            m.d.comb += [after.dev_shared.eq(1), after.blk_shared.eq(0)]
        if own_warp_shares:
            # Reached by the owner itself only once the entry is shared already.
            with m.Elif(entry.dev_shared):
                m.d.comb += after.blk_shared.eq(0)
            with m.Else():
                m.d.comb += after.blk_shared.eq(1)
        else:
            with m.Elif(~self._own_warp & ~entry.dev_shared):
                m.d.comb += after.blk_shared.eq(1)

    def _store(self, m):
        """Rows w4 to w9; ``G`` of entry and access are both 1 from w7 on."""
        entry, after = self.i_entry, self.o_after
        with m.If(entry.is_atom & (self.i_packet.kind == PacketKind.ATOMIC)):
            m.d.comb += [
                self.o_row.eq(Row.W4),
                after.blk_shared.eq(entry.blk_shared),
                after.dev_shared.eq(entry.dev_shared),
                after.filter.eq(entry.filter),
            ]
        with m.Elif(~self._same_block & ~self._dev_fenced):
            self._race(m, Row.W5, RaceKind.MISSING_DEVICE_FENCE)
        with m.Elif(~self._dev_fenced & (~self._blk_fenced | entry.dev_shared)):
            self._race(m, Row.W5, RaceKind.MISSING_BLOCK_FENCE)
        with m.Elif(~self._both_strong):
            self._race(m, Row.W6, RaceKind.NOT_STRONG)
        with m.Elif(~self._entry_locked & ~self._locked):
            m.d.comb += self.o_row.eq(Row.W7)
        with m.Elif(~self._common_lock):
            self._race(m, Row.W8, RaceKind.MISSING_LOCK)
        with m.Else():
            m.d.comb += [
                self.o_row.eq(Row.W9),
                after.filter.eq(entry.filter & self.i_packet.filter),
            ]
