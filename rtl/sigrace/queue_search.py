"""Search of the queues in one memory, by one scanner.

Ref: SigRace (ISCA'09) Section 3.2, Fig. 5(a).
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.sigrace.history_queue import HistoryQueues
from racetrap.rtl.sigrace.scanner import Scanner, comparison_layout


class QueueSearch(wiring.Component):
    """Compares a message with the queues of every ``scanners``-th thread, one after the other.

    A queue that is empty, or the message's own, takes a cycle, any other one more than its scan.

    Parameters
    ----------
    params : SigraceParams
        Configuration.
    number : int
        The scanner: its first queue is that of this thread.

    Members
    -------
    i_thread, i_message : ``In(range(threads))``, ``In(history_layout)``
        The message and its thread, stable from ``i_start`` until it is pushed.
    i_start : ``In(1)``
        Search the queues from the next cycle on.
    i_push : ``In(1)``
        Put the message into its thread's queue, if that is here.
    i_flush : ``In(1)``
        Empty all queues.
    o_done : ``Out(1)``
        The search ends in this cycle, or has ended.
    o_other : ``Out(range(threads))``
        Thread of the queue that is searched.
    o_comparison : ``Out(stream.Signature(comparison_layout(params), always_ready=True))``
        Comparisons.
    i_log_full, i_may_log, o_log
        As in :class:`~racetrap.rtl.sigrace.scanner.Scanner`.
    o_entry : ``Out(history_layout)``
        Entry that conflicts; valid with ``o_log``.
    o_loses : ``Out(1)``
        A queue was full, and no entry preceded the message.
    o_lost : ``Out(number of queues)``
        Queues, in ascending order, for which this has happened in the last search.
    """

    def __init__(self, params: SigraceParams, number: int):
        self._params = params
        self._threads = range(number, params.threads, params.scanners)
        block = struct_layout(params.history_layout)
        super().__init__({
            "i_thread": In(range(params.threads)),
            "i_message": In(block),
            "i_start": In(1),
            "i_push": In(1),
            "i_flush": In(1),
            "o_done": Out(1),
            "o_other": Out(range(params.threads)),
            "o_comparison": Out(stream.Signature(comparison_layout(params), always_ready=True)),
            "i_log_full": In(1),
            "i_may_log": In(1),
            "o_log": Out(stream.Signature(3, always_ready=True)),
            "o_entry": Out(block),
            "o_loses": Out(1),
            "o_lost": Out(len(self._threads)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.queues = queues = HistoryQueues(self._params, len(self._threads))
        m.submodules.scanner = scanner = Scanner(self._params)
        queue = Signal(range(len(self._threads)))
        self._connect(m, queues, scanner, queue)

        def next_queue() -> None:
            m.d.sync += queue.eq(queue + 1)
            m.next = "QUEUE"
            with m.If(queue == len(self._threads) - 1):
                m.d.comb += self.o_done.eq(1)
                m.next = "IDLE"

        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.o_done.eq(1)
                m.d.sync += queue.eq(0)
                with m.If(self.i_start):
                    m.d.sync += self.o_lost.eq(0)
                    m.next = "QUEUE"
            with m.State("QUEUE"):
                with m.If((self.o_other == self.i_thread) | (queues.o_count == 0)):
                    next_queue()
                with m.Else():
                    m.d.comb += [queues.i_open.eq(1), scanner.i_start.eq(1)]
                    m.next = "SCAN"
            with m.State("SCAN"):
                m.d.comb += self.o_loses.eq(scanner.o_done & scanner.o_lost)
                with m.If(scanner.o_done):
                    m.d.sync += self.o_lost.bit_select(queue, 1).eq(scanner.o_lost)
                    next_queue()
        return m

    def _connect(self, m: Module, queues: HistoryQueues, scanner: Scanner, queue: Signal) -> None:
        own, is_here = Signal.like(queue), Signal()
        with m.Switch(self.i_thread):
            for number, thread in enumerate(self._threads):
                with m.Case(thread):
                    m.d.comb += [own.eq(number), is_here.eq(1)]
        m.d.comb += [
            self.o_other.eq(queue * self._params.scanners + self._threads[0]),
            queues.i_queue.eq(Mux(self.i_push, own, queue)),
            queues.i_position.eq(scanner.o_position),
            queues.i_push.valid.eq(self.i_push & is_here),
            queues.i_push.p.eq(self.i_message),
            queues.i_flush.eq(self.i_flush),
            scanner.i_count.eq(queues.o_count),
            scanner.i_thread.eq(self.i_thread),
            scanner.i_other.eq(self.o_other),
            scanner.i_message.eq(self.i_message),
            scanner.i_entry.eq(queues.o_entry),
            scanner.i_log_full.eq(self.i_log_full),
            scanner.i_may_log.eq(self.i_may_log),
            self.o_entry.eq(queues.o_entry),
        ]
        connect(m, scanner.o_comparison, flipped(self.o_comparison))
        connect(m, scanner.o_log, flipped(self.o_log))
