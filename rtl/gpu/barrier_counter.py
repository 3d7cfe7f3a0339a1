"""Barrier counter: from the arrivals of warps to the barriers that blocks pass.

Ref: PTX ISA 9.0, Section 9.7.13.1 (bar).
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.gpu.issue import IssueKind
from racetrap.golden_model.gpu.params import BARRIER_BITS, GpuParams
from racetrap.rtl.common.bits import lowest_one_hot, one_hot_number, total
from racetrap.rtl.common.memory import block_memory
from racetrap.rtl.gpu.outcome_hold import operation_layout

_BARRIERS = 1 << BARRIER_BITS


class BlockWarps(wiring.Component):
    """Warps of each block, and the lanes of each warp that have not ended.

    What is looked up is combinational in ``i_slot`` and ``i_warp``; changes show in the next cycle.

    Parameters
    ----------
    params : GpuParams
        Configuration.

    Members
    -------
    i_slot, i_warp : ``In(slot_bits)``, ``In(warp_bits)``
        Block slot, and warp slot of one of the block's warps.
    i_start : ``In(1)``
        A block starts with the warp slots ``i_warps``, of which ``i_warp`` is the first, and the
        lanes ``i_lanes`` in its last warp.
    i_exit : ``In(1)``
        The lanes ``i_lanes`` of the warp end.
    i_warps, i_lanes : ``In(warps_per_sm)``, ``In(lanes)``
        As above.
    o_here, o_warps, o_living : ``Out(warps_per_sm)``
        The warp; all of its block; those that have not ended: one bit each, counted from the
        block's first.
    o_lanes : ``Out(lanes)``
        Lanes of the warp that have not ended.
    """

    def __init__(self, params: GpuParams):
        self._params = params
        warps = params.warps_per_sm
        super().__init__({
            "i_slot": In(params.slot_bits),
            "i_warp": In(params.warp_bits),
            "i_start": In(1),
            "i_exit": In(1),
            "i_warps": In(warps),
            "i_lanes": In(params.lanes),
            "o_here": Out(warps),
            "o_warps": Out(warps),
            "o_living": Out(warps),
            "o_lanes": Out(params.lanes),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        warps = self._params.warps_per_sm
        block = data.StructLayout({
            "first": self._params.warp_bits, "last_lanes": self._params.lanes, "warps": warps,
            "living": warps,
        })  # fmt: skip
        # Memories of one word would have no address.
        blocks = Memory(shape=block, depth=max(self._params.blocks_per_sm, 2), init=[])
        lanes = Memory(shape=self._params.lanes, depth=max(warps, 2), init=[])
        m.submodules.blocks, m.submodules.lanes = blocks, lanes
        found, changed = blocks.read_port(domain="comb"), blocks.write_port()
        some, fewer = lanes.read_port(domain="comb"), lanes.write_port()
        is_whole, is_last = Signal(warps, name="is_whole"), Signal(name="is_last")
        left, taken = Signal(self._params.lanes, name="left"), Signal(warps, name="taken")
        m.d.comb += [
            found.addr.eq(self.i_slot),
            changed.addr.eq(self.i_slot),
            some.addr.eq(self.i_warp),
            fewer.addr.eq(self.i_warp),
            self.o_here.eq(1 << (self.i_warp - found.data.first)[: self._params.warp_bits]),
            self.o_warps.eq(found.data.warps),
            self.o_living.eq(found.data.living),
            is_last.eq(~(found.data.warps >> 1 & self.o_here).any()),
            self.o_lanes.eq(
                Mux(
                    is_whole.bit_select(self.i_warp, 1),
                    found.data.last_lanes | (~is_last).replicate(self._params.lanes),
                    some.data,
                )
            ),
            left.eq(self.o_lanes & ~self.i_lanes),
            taken.eq(self.i_warps >> self.i_warp),
            fewer.data.eq(left),
            fewer.en.eq(self.i_exit),
            changed.data.eq(found.data),
            changed.en.eq(self.i_start | self.i_exit),
        ]
        with m.If(self.i_start):
            m.d.comb += [
                changed.data.first.eq(self.i_warp), changed.data.last_lanes.eq(self.i_lanes),
                changed.data.warps.eq(taken), changed.data.living.eq(taken),
            ]  # fmt: skip
            m.d.sync += is_whole.eq(is_whole | self.i_warps)
        with m.Elif(self.i_exit):
            m.d.sync += is_whole.bit_select(self.i_warp, 1).eq(0)
            with m.If(~left.any()):
                m.d.comb += changed.data.living.eq(found.data.living & ~self.o_here)
        return m


class BarrierCounter(wiring.Component):
    """Counts the warps that arrive at the barriers of each block, and gives those that are passed.

    A block passes a barrier when as many warps have arrived as its first arrival says, or all that
    have not ended.  If all of these have waited, a BARRIER leaves (where a number is given, those
    that have ended must have waited, too); otherwise a PARTIAL_BARRIER with those that have.  A
    warp has arrived with its first lane, or with ``independent_threads`` with all of its lanes that
    have not ended.  An ARRIVE leaves as well, before the barrier.  All barriers that an EXIT lets a
    block pass leave, that of the lowest number first.

    An arrival takes three cycles, an EXIT two and three more for each barrier at which warps of its
    block are.  All else passes in the cycle in which it is taken.  No ``ready`` depends
    combinationally on a ``valid``.

    Parameters
    ----------
    params : GpuParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(operation_layout(params)))``
        Instructions; of each block, from its BLOCK_START on.
    o : ``Out(stream.Signature(operation_layout(params)))``
        The same, but for arrivals and exits, and barriers that are passed.
    """

    def __init__(self, params: GpuParams):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(operation_layout(params))),
            "o": Out(stream.Signature(operation_layout(params))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params, item, kinds = self._params, self.i.payload, IssueKind
        warps = params.warps_per_sm
        row = data.StructLayout({
            "count": warps.bit_length(), "pc": params.pc_bits, "waiting": warps, "all": warps,
            "some": warps * params.independent_threads,
        })  # fmt: skip
        m.submodules.warps = block = BlockWarps(params)
        m.submodules.rows = rows = block_memory(row, params.blocks_per_sm * _BARRIERS)
        read, write = rows.read_port(), rows.write_port()
        new = Signal(row, name="new", reset_less=True)
        number, todo = Signal(BARRIER_BITS, name="number"), Signal(_BARRIERS, name="todo")
        is_exit, is_arrival, arrives, passes = (
            Signal(name=name) for name in ("is_exit", "is_arrival", "arrives", "passes")
        )
        active = Array(
            Signal(_BARRIERS, name=f"active_{slot}") for slot in range(params.blocks_per_sm)
        )
        is_first = ~active[item.slot].bit_select(number, 1)
        has_arrived = self._elaborate_lanes(m, block, number, read, is_first, arrives)
        m.d.comb += [
            block.i_slot.eq(item.slot), block.i_warp.eq(item.warp),
            block.i_warps.eq(item.warps), block.i_lanes.eq(item.lanes),
            is_exit.eq(item.kind == kinds.EXIT),
            is_arrival.eq((item.kind == kinds.BARRIER) | (item.kind == kinds.ARRIVE)),
            number.eq(Mux(is_exit, one_hot_number(lowest_one_hot(todo)), item.number)),
            read.addr.eq(Cat(number, item.slot)), write.addr.eq(read.addr),
            write.data.eq(new), self.o.payload.eq(item),
        ]  # fmt: skip
        with m.FSM():
            with m.State("PASS"):
                passing = ~is_exit & ~is_arrival
                starts = self.i.valid & self.o.ready & (item.kind == kinds.BLOCK_START)
                m.d.comb += [
                    self.o.valid.eq(self.i.valid & passing),
                    self.i.ready.eq(self.o.ready & passing),
                    block.i_start.eq(starts), block.i_exit.eq(self.i.valid & is_exit),
                ]  # fmt: skip
                m.d.sync += todo.eq(active[item.slot])
                with m.If(starts):
                    m.d.sync += active[item.slot].eq(0)
                with m.If(self.i.valid & is_arrival):
                    m.next = "ARRIVE"
                with m.If(self.i.valid & is_exit):
                    m.next = "EXIT"
            with m.State("ARRIVE"):
                m.d.comb += [
                    self.o.valid.eq(item.kind == kinds.ARRIVE),
                    arrives.eq(self.o.ready | (item.kind == kinds.BARRIER)),
                ]
                self._arrive(m, new, read.data, block.o_here, is_first, has_arrived)
                with m.If(arrives):
                    m.next = "COUNT"
            with m.State("EXIT"):
                m.d.comb += self.i.ready.eq(~todo.any())
                m.next = "END"
                with m.If(~todo.any()):
                    m.next = "PASS"
            with m.State("END"):
                m.d.sync += [
                    new.eq(read.data),
                    new.all.eq(read.data.all | Mux(has_arrived, read.data.some & block.o_here, 0)),
                ]
                m.next = "COUNT"
            with m.State("COUNT"):
                m.d.comb += passes.eq(_is_passed(new, block))
                self._pass(m, new, passes, number, block)
                m.d.comb += [
                    self.i.ready.eq(~is_exit & (~passes | self.o.ready)), write.en.eq(~passes),
                ]  # fmt: skip
                with m.If(~passes | self.o.ready):
                    m.d.sync += [
                        active[item.slot].bit_select(number, 1).eq(~passes),
                        todo.eq(todo & (todo - 1)),
                    ]
                    m.next = "PASS"
                    with m.If(is_exit):
                        m.next = "EXIT"
        return m

    def _elaborate_lanes(
        self, m: Module, block: BlockWarps, number: Value, row: Any, is_first: Value,
        arrives: Value,
    ) -> Value:  # fmt: skip
        """Whether the warp has arrived at the barrier that is looked up."""
        params, item = self._params, self.i.payload
        if not params.independent_threads:
            return Const(1, 1)
        depth = max(params.warps_per_sm * _BARRIERS, 2)
        m.submodules.lanes = memory = block_memory(params.lanes, depth)
        read, write = memory.read_port(), memory.write_port()
        before, lanes = Signal(params.lanes, name="before"), Signal(params.lanes, name="lanes")
        m.d.comb += [
            read.addr.eq(Cat(number, item.warp)), write.addr.eq(read.addr), write.data.eq(lanes),
            write.en.eq(arrives),
            before.eq(
                Mux(is_first | ~(row.data.some & block.o_here).any(), 0, read.data)
            ),
            lanes.eq(Mux(item.kind == IssueKind.EXIT, before, before | item.lanes)),
        ]  # fmt: skip
        return ~(block.o_lanes & ~lanes).any()

    def _arrive(
        self, m: Module, new: data.View, row: data.View, here: Value, is_first: Value,
        has_arrived: Value,
    ) -> None:  # fmt: skip
        """Make the row with an arrival."""
        item = self.i.payload
        waits = item.kind == IssueKind.BARRIER
        m.d.sync += [
            new.count.eq(Mux(is_first, item.warps, row.count)),
            new.pc.eq(Mux(is_first, item.pc, row.pc)),
            new.waiting.eq(Mux(is_first, 0, row.waiting) | Mux(waits, here, 0)),
            new.all.eq(Mux(is_first, 0, row.all) | Mux(has_arrived, here, 0)),
            new.some.eq(Mux(is_first, 0, row.some) | here),
        ]

    def _pass(
        self, m: Module, new: data.View, passes: Value, number: Value, block: BlockWarps
    ) -> None:
        """Offer the barrier."""
        all_wait = ~(Mux(new.count.any(), block.o_warps, block.o_living) & ~new.waiting).any()
        payload, kinds = self.o.payload, IssueKind
        is_exit = self.i.payload.kind == kinds.EXIT
        m.d.comb += [
            self.o.valid.eq(passes),
            payload.kind.eq(Mux(all_wait, kinds.BARRIER.value, kinds.PARTIAL_BARRIER.value)),
            payload.pc.eq(Mux(is_exit, new.pc, self.i.payload.pc)),
            payload.number.eq(number), payload.warps.eq(new.waiting),
        ]  # fmt: skip


def _is_passed(row: data.View, block: BlockWarps) -> Value:
    """Whether enough warps have arrived."""
    all_arrived = block.o_living.any() & ~(block.o_living & ~row.all).any()
    return Mux(row.count.any(), total(list(row.all)) >= row.count, all_arrived)
