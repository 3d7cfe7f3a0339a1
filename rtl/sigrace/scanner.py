"""Scanner: compares a message with the blocks in one BlockHistoryQueue, newest first.

Ref: SigRace (ISCA'09) Section 3.2, Fig. 2 and 5(a).
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.packets import Relation
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.sigrace.intersection import Intersection
from racetrap.rtl.sigrace.timestamp_comparator import TimestampComparator


def comparison_layout(params: SigraceParams) -> data.StructLayout:
    """One comparison: queue, age of the entry, ``Relation``, and ``Conflict``."""
    return data.StructLayout({
        "other": range(params.threads),
        "position": range(params.history_depth),
        "relation": 2,
        "conflict": 3,
    })  # fmt: skip


class Scanner(wiring.Component):
    """Scans a queue until an entry precedes the message, or to the queue's end.

    One entry a cycle: it is read, compared and intersected, and judged in three successive cycles;
    entries read beyond an early end are discarded.  A queue of n entries takes n + 2 cycles from
    ``i_start`` to ``o_done``.  To log a conflict the entry is read again, which takes four extra
    cycles, or more until ``i_may_log``; while the log is full, conflicts take none.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_start : ``In(1)``
        Open the queue, which is not empty.
    i_count : ``In(range(history_depth + 1))``
        Its entries, from ``i_start`` on.
    i_thread, i_other : ``In(range(threads))``
        Threads of the message and of the queue.
    i_message : ``In(history_layout)``
        The message.
    o_position, i_entry : ``Out(range(history_depth))``, ``In(history_layout)``
        Age of an entry, and that entry in the next cycle.
    o_comparison : ``Out(stream.Signature(comparison_layout(params), always_ready=True))``
        Comparisons.
    i_log_full : ``In(1)``
        Conflicts cannot be logged.
    i_may_log : ``In(1)``
        It is this queue's turn to log.
    o_log : ``Out(stream.Signature(3, always_ready=True))``
        ``Conflict`` between the message and ``i_entry``, to log.
    o_done : ``Out(1)``
        The scan ends in this cycle.
    o_lost : ``Out(1)``
        With ``o_done``: the queue was full, and no entry preceded the message.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        block = struct_layout(params.history_layout)
        super().__init__({
            "i_start": In(1),
            "i_count": In(range(params.history_depth + 1)),
            "i_thread": In(range(params.threads)),
            "i_other": In(range(params.threads)),
            "i_message": In(block),
            "o_position": Out(range(params.history_depth)),
            "i_entry": In(block),
            "o_comparison": Out(stream.Signature(comparison_layout(params), always_ready=True)),
            "i_log_full": In(1),
            "i_may_log": In(1),
            "o_log": Out(stream.Signature(3, always_ready=True)),
            "o_done": Out(1),
            "o_lost": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        comparison = self.o_comparison.p
        last = self.i_count - 1
        is_full = self.i_count == self._params.history_depth
        precedes = comparison.relation == Relation.PRECEDES
        # Stages after the read: an entry is here; it has been compared.
        is_reading, is_here, is_forgotten = Signal(), Signal(), Signal()
        here = Signal.like(self.o_position)
        m.d.sync += [
            is_here.eq(is_reading & ~is_forgotten),
            here.eq(self.o_position),
            self.o_comparison.valid.eq(is_here & ~is_forgotten),
            comparison.position.eq(here),
        ]
        logged = self._elaborate_units(m)

        def judge() -> None:
            with m.If(self.o_comparison.valid & (comparison.conflict != 0) & ~self.i_log_full):
                m.d.comb += is_forgotten.eq(1)
                m.d.sync += [logged.eq(comparison), self.o_position.eq(comparison.position)]
                m.next = "FETCH"
            with m.Elif(self.o_comparison.valid & (precedes | (comparison.position == last))):
                m.d.comb += [
                    is_forgotten.eq(1),
                    self.o_done.eq(1),
                    self.o_lost.eq(is_full & ~precedes),
                ]
                m.next = "IDLE"

        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += self.o_position.eq(0)
                with m.If(self.i_start):
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += is_reading.eq(1)
                m.d.sync += self.o_position.eq(self.o_position + 1)
                with m.If(self.o_position == last):
                    m.next = "WAIT"
                judge()
            with m.State("WAIT"):
                judge()
            with m.State("FETCH"):
                with m.If(self.i_may_log):
                    m.next = "LOG"
            with m.State("LOG"):
                m.d.comb += self.o_log.valid.eq(1)
                m.d.sync += self.o_position.eq(logged.position + 1)
                m.next = "READ"
                with m.If(logged.position == last):
                    m.d.comb += [self.o_done.eq(1), self.o_lost.eq(is_full)]
                    m.next = "IDLE"
        return m

    def _elaborate_units(self, m: Module) -> data.View:
        """Comparators; returns the register of the comparison that is being logged."""
        logged = Signal(self.o_comparison.p.shape())
        m.submodules.comparator = comparator = TimestampComparator(self._params)
        m.submodules.intersection = intersection = Intersection(self._params)
        unordered = comparator.o_relation == Relation.UNORDERED
        m.d.comb += [
            comparator.i_message.eq(self.i_message.timestamp),
            comparator.i_entry.eq(self.i_entry.timestamp),
            comparator.i_thread.eq(self.i_thread),
            comparator.i_other.eq(self.i_other),
            intersection.i_message.eq(self.i_message),
            intersection.i_entry.eq(self.i_entry),
            self.o_comparison.p.other.eq(self.i_other),
            self.o_comparison.p.relation.eq(comparator.o_relation),
            self.o_comparison.p.conflict.eq(Mux(unordered, intersection.o_conflict, 0)),
            self.o_log.p.eq(logged.conflict),
        ]
        return logged
