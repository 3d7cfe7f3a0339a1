"""Tap queue: operations of all taps in their order, until the monitor takes them.

Ref: ``golden_model/noncoherent/taps/tap_queue.py`` (the same order and losses).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.noncoherent.taps.layouts import lane_layout


class TapQueue(wiring.Component):
    """Keeps groups, the operations of one cycle each, and outputs their operations one by one.

    A group comes out one cycle after it came at the earliest; then an operation each cycle, also
    across groups.  Writing never waits: a group that finds the queue full is lost and counted, also
    if the last operation of another leaves in this cycle.

    Parameters
    ----------
    params : NoncoherentParams
        The monitor.
    lanes : int
        Operations of a group at most.
    depth : int
        Groups that have room, a power of two.

    Members
    -------
    i_lanes : ``In(lane_layout) x lanes``
        Operations of this cycle, in the order of the lanes.
    o : ``Out(stream.Signature(operation_layout))``
        Operations in order.
    o_lost : ``Out(range(lanes + 1))``
        Operations of this cycle that find no room.
    """

    def __init__(self, params: NoncoherentParams, lanes: int, depth: int):
        self._params, self._lanes, self._depth = params, lanes, depth
        self._group = data.ArrayLayout(lane_layout(params), lanes)
        super().__init__({
            "i_lanes": In(self._group),
            "o": Out(stream.Signature(struct_layout(params.operation_layout))),
            "o_lost": Out(range(lanes + 1)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = Memory(shape=self._group, depth=self._depth, init=[])
        write, read = memory.write_port(), memory.read_port(domain="comb")
        head, tail = Signal(range(self._depth)), Signal(range(self._depth))
        count, done = Signal(range(self._depth + 1)), Signal(self._lanes)
        valids = [self.i_lanes[lane].valid for lane in range(self._lanes)]
        comes, is_full, leaves = Signal(), Signal(), Signal()
        m.d.comb += [
            comes.eq(Cat(valids).any()), is_full.eq(count == self._depth),
            write.addr.eq(tail), write.data.eq(self.i_lanes), write.en.eq(comes & ~is_full),
            read.addr.eq(head), self.o_lost.eq(Mux(is_full, sum(valids), 0)),
            self.o.valid.eq(count != 0),
        ]  # fmt: skip
        left = Signal(self._lanes)
        m.d.comb += left.eq(
            Cat(read.data[lane].valid for lane in range(self._lanes)) & ~done
        )  # fmt: skip
        for lane in reversed(range(self._lanes)):
            with m.If(left[lane]):
                m.d.comb += self.o.payload.eq(read.data[lane].operation)
        with m.If(self.o.valid & self.o.ready):
            m.d.comb += leaves.eq(~(left & (left - 1)).any())
            m.d.sync += done.eq(Mux(leaves, 0, done | (left & -left)))
        m.d.sync += [
            head.eq(head + leaves), tail.eq(tail + write.en), count.eq(count + write.en - leaves),
        ]  # fmt: skip
        return m
