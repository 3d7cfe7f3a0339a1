"""Rows of warps: what a bank must know of each warp to check its accesses, in memories.

Ref: ScoRD (ISCA'20) Section VI (lists of warps that have synchronised; threads of a warp).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.packets import PacketKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.events import WARP_SIZE
from racetrap.rtl.causality.access import TILE_BITS, WHOLE_WARP, tile_of
from racetrap.rtl.common.bits import lowest_one_hot, one_hot_select
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.memory import block_memory

#: Bits of the count of nested branches, kept or not.
_DEPTH_BITS = 8


def branch_layout(params: CausalityParams) -> data.StructLayout:
    """Nested branches of a warp in lockstep, else barriers of some of its lanes.

    A level has the lanes that run; a record is free if it has no lanes.  Accesses of all lanes
    below the clock ``lanes_before`` are ordered.
    """
    clock = params.clock_bits
    if params.independent_threads:
        record = data.StructLayout({"lanes": WARP_SIZE, "clock": clock, "tile": TILE_BITS})
        return data.StructLayout({
            "lanes_before": clock, "records": data.ArrayLayout(record, params.records),
        })  # fmt: skip
    level = data.StructLayout({"active": WARP_SIZE, "clock": clock})
    return data.StructLayout({
        "depth": _DEPTH_BITS, "levels": data.ArrayLayout(level, params.levels),
    })  # fmt: skip


class BranchUpdate(wiring.Component):
    """Notes a branch in lockstep, or a barrier of lanes that are independent.  Combinational.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i : ``In(branch_layout(params))``
        What was known of the warp.
    i_kind, i_lanes, i_clock : ``In(packet's)``
        Kind of the packet in lockstep, lanes that run or meet, and the warp's clock behind it.
    i_tile : ``In(TILE_BITS)``
        Tile that these lanes are (``tile_of``).
    o : ``Out(branch_layout(params))``
        What is known now.
    """

    def __init__(self, params: CausalityParams):
        self._params = params
        super().__init__({
            "i": In(branch_layout(params)),
            "i_kind": In(params.packet_layout.fields["kind"]),
            "i_lanes": In(WARP_SIZE),
            "i_clock": In(params.clock_bits),
            "i_tile": In(TILE_BITS),
            "o": Out(branch_layout(params)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.eq(self.i)
        if self._params.independent_threads:
            self._elaborate_barrier(m)
            with m.If(self.i_tile == WHOLE_WARP):
                m.d.comb += [Value.cast(self.o).eq(0), self.o.lanes_before.eq(self.i_clock)]
        else:
            self._elaborate_branch(m)
        return m

    def _elaborate_branch(self, m: Module) -> None:
        """The stack of levels; those beyond the ones kept are counted."""
        depth = self.i.depth
        with m.Switch(self.i_kind):
            with m.Case(PacketKind.IF):
                m.d.comb += self.o.depth.eq(depth + ~depth.all())
                for place, active in enumerate(self._running()):
                    with m.If(depth == place):
                        m.d.comb += [
                            self.o.levels[place].active.eq(active & self.i_lanes),
                            self.o.levels[place].clock.eq(self.i_clock),
                        ]
            with m.Case(PacketKind.ELSE):
                for place, active in enumerate(self._running()):
                    with m.If(depth == place + 1):
                        now = self.i.levels[place].active
                        m.d.comb += self.o.levels[place].active.eq(active & ~now)
            with m.Case(PacketKind.FI):
                m.d.comb += self.o.depth.eq(depth - depth.any())

    def _running(self) -> list[Value]:
        """Lanes that run around each level."""
        active = [level.active for level in self.i.levels]
        return [Const((1 << WARP_SIZE) - 1, WARP_SIZE), *active][: len(active)]

    def _elaborate_barrier(self, m: Module) -> None:
        """Records of the same tile join it; others that it meets learn from it; else it is one of
        its own, for which the first makes room.

        Whether one makes room is known last, so that records are made for both cases.
        """
        lanes, tile, clock, count = self.i_lanes, self.i_tile, self.i_clock, self._params.records
        joined, met, free, is_new = (
            Signal(count, name=name) for name in ("joined", "met", "free", "is_new")
        )
        is_apart, makes_room = Signal(), Signal()
        for place, old in enumerate(self.i.records):
            is_same = (tile != 0) & (old.tile == tile)
            is_larger = (tile != 0) & (old.tile >= tile)
            m.d.comb += [
                joined[place].eq(is_same),
                met[place].eq((old.lanes & lanes).any() & ~is_larger),
                free[place].eq(~old.clock.any()),
            ]
        m.d.comb += [
            is_apart.eq(~joined.any()),
            makes_room.eq(is_apart & ~free.any()),
            is_new.eq(lowest_one_hot(free) & is_apart.replicate(count)),
        ]

        def learnt(old: data.View, place: int) -> dict[str, Value]:
            """A record that is not of the barrier's tile."""
            more = lanes & met[place].replicate(len(lanes))
            return {
                "lanes": old.lanes | more, "clock": old.clock, "tile": Mux(met[place], 0, old.tile)
            }  # fmt: skip

        for place, new in enumerate(self.o.records):
            old, has_clock = self.i.records[place], is_new[place] | joined[place]
            stays = learnt(old, place)
            stays["lanes"] |= lanes & has_clock.replicate(len(lanes))
            stays["clock"] = Mux(has_clock, clock, old.clock)
            stays["tile"] = Mux(has_clock, tile, stays["tile"])
            moves: dict[str, Value] = {"lanes": lanes, "clock": clock, "tile": tile}
            if place + 1 < count:
                moves = learnt(self.i.records[place + 1], place + 1)
            m.d.comb += [new[name].eq(Mux(makes_room, moves[name], stays[name])) for name in moves]
        dropped = self.i.records[0].clock if count else clock
        with m.If(makes_room & (dropped > self.i.lanes_before)):
            m.d.comb += self.o.lanes_before.eq(dropped)


class WarpRows(wiring.Component):
    """Looks up the row of a packet's warp, in order, and notes branches.

    For a packet given in one cycle, ``o_start`` and ``o_branch`` are answered two cycles later, and
    ``o_row`` three cycles later, from registers, since block RAM is slow to answer.  A packet that
    is no access changes what is known of its warp's branches for all behind it.  A row may be
    written only while no packet of its warp is on the way.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_valid, i_packet : ``In(1)``, ``In(packet_layout)``
        A packet.
    i_row : ``In(stream.Signature(row_write_layout))``
        Rows to be written; ``ready`` does not depend on ``valid``.
    o_start : ``Out(clock_bits)``
        First clock of the block of the packet before last.
    o_branch : ``Out(branch_layout(params))``
        Branches of its warp before it.
    o_row : ``Out(row_layout)``
        Row of the warp of the packet before that.
    i_clear, i_epoch : ``In(1)``
        Pulse, while no packet is on the way: forget all, as at launch, or what clocks have wrapped
        make void.
    o_busy : ``Out(1)``
        High while that lasts, two cycles for each warp slot; no packet may be given.
    """

    def __init__(self, params: CausalityParams):
        self._params = params
        super().__init__({
            "i_valid": In(1),
            "i_packet": In(struct_layout(params.packet_layout)),
            "i_row": In(stream.Signature(struct_layout(params.row_write_layout))),
            "o_start": Out(params.clock_bits),
            "o_branch": Out(branch_layout(params)),
            "o_row": Out(struct_layout(params.row_layout)),
            "i_clear": In(1),
            "i_epoch": In(1),
            "o_busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        depth = self._params.sm_count << self._params.warp_bits
        # Twice a warp slot's number: read in even cycles, written in odd ones.
        swept = Signal(range(2 * depth + 1), init=2 * depth)
        of_epoch = Signal()
        with m.If(self.i_clear | self.i_epoch):
            m.d.sync += [swept.eq(0), of_epoch.eq(self.i_epoch & ~self.i_clear)]
        with m.Elif(self.o_busy):
            m.d.sync += swept.eq(swept + 1)
        # A register: many look at it, and it would be compared from all bits.
        with m.If(self.i_clear | self.i_epoch):
            m.d.sync += self.o_busy.eq(1)
        with m.Elif(swept == 2 * depth - 1):
            m.d.sync += self.o_busy.eq(0)
        is_written = self._elaborate_branches(m, swept[1:], swept[0], of_epoch, depth)
        m.d.comb += self.i_row.ready.eq(~is_written & ~self.o_busy)
        self._elaborate_rows(m, swept[1:], of_epoch, depth)
        return m

    def _elaborate_rows(self, m: Module, swept: Value, of_epoch: Value, depth: int) -> None:
        """The first clock in a memory of its own, which is read a cycle earlier."""
        given, cleared = self.i_row.p, Signal.like(self.i_row.p.row, name="cleared")
        layout = self._params.row_layout.fields
        rest = data.StructLayout({
            name: struct_layout(shape) if not isinstance(shape, int) else shape
            for name, shape in layout.items() if name != "start"
        })  # fmt: skip
        m.submodules.starts = starts = block_memory(self._params.clock_bits, depth)
        m.submodules.rest = rows = block_memory(rest, depth)
        start, row = starts.read_port(), rows.read_port()
        warp = Signal.like(self.i_packet.warp, name="warp_before")
        m.d.comb += [
            cleared.start.eq(1),
            cleared.lanes_before.eq(~of_epoch),
            start.addr.eq(self.i_packet.warp),
            row.addr.eq(warp),
            self.o_row.start.eq(self._start_before),
        ]
        written = Mux(self.o_busy, cleared, Value.cast(given.row))
        ports = (starts.write_port(), self._params.clock_bits), (rows.write_port(), rest.size)
        for (port, bits), low in zip(ports, (0, self._params.clock_bits), strict=True):
            m.d.comb += [
                port.en.eq(self.o_busy | (self.i_row.valid & self.i_row.ready)),
                port.addr.eq(Mux(self.o_busy, swept, given.warp)),
                Value.cast(port.data).eq(written[low : low + bits]),
            ]
        answered = Signal(rest, name="answered", reset_less=True)
        m.d.sync += [
            warp.eq(self.i_packet.warp),
            self.o_start.eq(start.data),
            answered.eq(row.data),
        ]
        m.d.comb += [self.o_row[name].eq(answered[name]) for name in rest.members]

    def _elaborate_branches(
        self, m: Module, swept: Value, is_write: Value, of_epoch: Value, depth: int
    ) -> Value:
        """Read, change, and write back from registers; a packet close behind takes what has
        changed.

        Gives whether a change is written in this cycle.
        """
        params, layout = self._params, branch_layout(self._params)
        self._start_before = Signal(params.clock_bits, name="start_before", reset_less=True)
        m.d.sync += self._start_before.eq(self.o_start)
        m.submodules.branches = branches = block_memory(layout, depth)
        m.submodules.update = update = BranchUpdate(params)
        read, write = branches.read_port(), branches.write_port()
        following, packet = (Signal.like(self.i_packet, name=f"packet_{n}") for n in (1, 2))
        is_following, changes = Signal(name="is_following"), Signal(name="changes")
        tile = Signal(TILE_BITS, name="tile")
        # What changed last, and what did a cycle earlier.
        changed, older = (
            Signal(
                data.StructLayout({"valid": 1, "warp": len(packet.warp), "branch": layout}),
                name=name,
            )
            for name in ("changed", "older")
        )
        first = PacketKind.WARP_BARRIER if params.independent_threads else PacketKind.IF
        m.d.sync += [
            is_following.eq(self.i_valid),
            following.eq(self.i_packet),
            packet.eq(following),
            changes.eq(is_following & (following.kind >= first)),
            tile.eq(tile_of(following.lanes)),
            changed.valid.eq(changes),
            changed.warp.eq(packet.warp),
            changed.branch.eq(update.o),
            older.eq(changed),
        ]
        m.d.comb += [
            read.addr.eq(self.i_packet.warp),
            update.i.eq(self.o_branch),
            update.i_kind.eq(packet.kind),
            update.i_lanes.eq(packet.lanes),
            update.i_clock.eq(packet.clock),
            update.i_tile.eq(tile),
            write.en.eq(Mux(self.o_busy, is_write, changed.valid)),
            write.addr.eq(Mux(self.o_busy, swept, changed.warp)),
            write.data.eq(changed.branch),
        ]
        # Not a chain of choices, which would put what is read, and comes late, at its end.
        sources = [
            (changes & (packet.warp == following.warp), update.o),
            (changed.valid & (changed.warp == following.warp), changed.branch),
            (older.valid & (older.warp == following.warp), older.branch),
            (Const(1), read.data),
        ]
        is_source = lowest_one_hot(Cat(is_there for is_there, _ in sources))
        m.d.sync += Value.cast(self.o_branch).eq(
            one_hot_select(is_source, (Value.cast(branch) for _, branch in sources))
        )
        row = self.i_row
        forgets = row.p.begins | row.p.met if params.independent_threads else row.p.begins
        with m.If(~changed.valid):
            # The sweep, or a row; packets and rows come only when nothing is swept.
            m.d.comb += write.data.eq(0)
            with m.If(~self.o_busy):
                m.d.comb += [write.en.eq(row.valid & forgets), write.addr.eq(row.p.warp)]
            if not params.independent_threads:
                with m.If(self.o_busy & of_epoch):
                    m.d.comb += write.data.eq(read.data)
                    m.d.comb += [level.clock.eq(0) for level in write.data.levels]
        if not params.independent_threads:
            with m.If(self.o_busy):
                m.d.comb += read.addr.eq(swept)
        return changed.valid
