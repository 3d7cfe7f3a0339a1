"""BlockHistoryQueues: the last blocks of several threads, in one memory.

Ref: SigRace (ISCA'09) Section 3.2, Fig. 5(a); Section 5.5.
"""

from __future__ import annotations

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.common.layout import struct_layout


class HistoryQueues(wiring.Component):
    """Queues of some threads; a new block replaces the oldest one of a full queue.

    ``o_count`` is combinational.  An entry is read in the cycle after its position is given, one a
    cycle; the queue must have been opened in an earlier cycle.  Block memory holds the entries;
    only heads and counts are registers, so that a flush takes one cycle.

    Parameters
    ----------
    params : SigraceParams
        Configuration.
    queues : int
        Number of queues.

    Members
    -------
    i_queue : ``In(range(queues))``
        Queue to be counted, opened or pushed to.
    o_count : ``Out(range(history_depth + 1))``
        Entries of that queue.
    i_open : ``In(1)``
        Read from that queue from the next cycle on.
    i_position : ``In(range(history_depth))``
        Age of the entry to read; 0 is the newest.
    o_entry : ``Out(history_layout)``
        The entry requested in the cycle before.
    i_push : ``In(stream.Signature(history_layout, always_ready=True))``
        Blocks to add to the queue ``i_queue``.
    i_flush : ``In(1)``
        Empty all queues.
    """

    def __init__(self, params: SigraceParams, queues: int):
        self._params, self._queues = params, queues
        super().__init__({
            "i_queue": In(range(queues)),
            "o_count": Out(range(params.history_depth + 1)),
            "i_open": In(1),
            "i_position": In(range(params.history_depth)),
            "o_entry": Out(struct_layout(params.history_layout)),
            "i_push": In(stream.Signature(struct_layout(params.history_layout), always_ready=True)),
            "i_flush": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        queues, depth = self._queues, params.history_depth
        m.submodules.memory = memory = Memory(
            shape=struct_layout(params.history_layout), depth=queues * depth, init=[]
        )
        read, write = memory.read_port(), memory.write_port()
        # Slot of the newest entry of each queue, and its entries.
        newest = Array(Signal(range(depth), name=f"newest_{k}") for k in range(queues))
        counts = Array(Signal(range(depth + 1), name=f"count_{k}") for k in range(queues))

        base = Signal(range(queues * depth))
        slot = Signal(range(depth))
        with m.If(self.i_open):
            m.d.sync += [base.eq(self.i_queue * depth), slot.eq(newest[self.i_queue])]
        age = self.i_position
        m.d.comb += [
            self.o_count.eq(counts[self.i_queue]),
            # Older entries lie below, and beyond slot 0 at the top.
            read.addr.eq(base + Mux(age > slot, slot + depth - age, slot - age)),
            self.o_entry.eq(read.data),
        ]

        head = newest[self.i_queue]
        next_head = Mux(head == depth - 1, 0, head + 1)
        m.d.comb += [
            write.addr.eq(self.i_queue * depth + next_head),
            write.data.eq(self.i_push.p),
            write.en.eq(self.i_push.valid),
        ]
        with m.If(self.i_push.valid):
            m.d.sync += head.eq(next_head)
            with m.If(self.o_count != depth):
                m.d.sync += counts[self.i_queue].eq(self.o_count + 1)
        with m.If(self.i_flush):
            m.d.sync += [count.eq(0) for count in counts]
        return m
