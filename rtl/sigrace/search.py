"""Search of all BlockHistoryQueues for the blocks that conflict with a message.

Ref: SigRace (ISCA'09) Section 3.2, Fig. 2 and 5(a).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.sigrace.intersection import intersections
from racetrap.rtl.sigrace.queue_search import QueueSearch
from racetrap.rtl.sigrace.scanner import comparison_layout


class Search(wiring.Component):
    """Compares a message with the queues of all other threads, ``scanners`` of them at once.

    A search lasts as long as that of the scanner which takes longest.  Conflicts are logged by
    ascending thread, and for each from the newest entry on, whatever the number of scanners: a
    scanner waits until all others are done with the queues before its own.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_thread, i_message : ``In(range(threads))``, ``In(history_layout)``
        The message and its thread, stable from ``i_start`` until it is pushed.
    i_start : ``In(1)``
        Search from the next cycle on.
    i_push, i_flush : ``In(1)``
        Put the message into its thread's queue; empty all queues.
    o_done : ``Out(1)``
        The search ends in this cycle, or has ended.
    o_comparison : ``Out(stream.Signature(comparison_layout(params), always_ready=True))``,
        ``.array(scanners)``; comparisons of each scanner.
    i_log_full : ``In(1)``
        The log is full.
    o_log : ``Out(stream.Signature(log_layout, always_ready=True))``
        Conflicts to log.
    o_dropped : ``Out(range(scanners + 1))``
        Conflicts that are not logged because the log is full.
    o_loses : ``Out(range(scanners + 1))``
        Queues found full without a predecessor of the message.
    o_lost : ``Out(threads)``
        Those queues, of the last search.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        block, scanners = struct_layout(params.history_layout), params.scanners
        comparison = stream.Signature(comparison_layout(params), always_ready=True)
        super().__init__({
            "i_thread": In(range(params.threads)),
            "i_message": In(block),
            "i_start": In(1),
            "i_push": In(1),
            "i_flush": In(1),
            "o_done": Out(1),
            "o_comparison": Out(comparison).array(scanners),
            "i_log_full": In(1),
            "o_log": Out(stream.Signature(struct_layout(params.log_layout), always_ready=True)),
            "o_dropped": Out(range(scanners + 1)),
            "o_loses": Out(range(scanners + 1)),
            "o_lost": Out(params.threads),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        searches = [QueueSearch(params, number) for number in range(params.scanners)]
        for number, search in enumerate(searches):
            m.submodules[f"search_{number}"] = search
            connect(m, search.o_comparison, flipped(self.o_comparison[number]))
            m.d.comb += [
                search.i_thread.eq(self.i_thread),
                search.i_message.eq(self.i_message),
                search.i_start.eq(self.i_start),
                search.i_push.eq(self.i_push),
                search.i_flush.eq(self.i_flush),
                search.i_log_full.eq(self.i_log_full),
                # Nothing can be logged any more for a queue before.
                search.i_may_log.eq(
                    reduce(
                        and_,
                        (
                            other.o_done | (other.o_other > search.o_other)
                            for other in searches
                            if other is not search
                        ),
                        Const(1),
                    )
                ),
            ]
        lost = [
            searches[thread % params.scanners].o_lost[thread // params.scanners]
            for thread in range(params.threads)
        ]
        m.d.comb += [
            self.o_done.eq(Cat(search.o_done for search in searches).all()),
            self.o_dropped.eq(sum(self._drops(search) for search in searches)),
            self.o_loses.eq(sum(search.o_loses for search in searches)),
            self.o_lost.eq(Cat(lost)),
        ]
        self._elaborate_log(m, searches)
        return m

    def _drops(self, search: QueueSearch) -> Value:
        """Whether a conflict is found, or its turn to be logged comes, while the log is full."""
        compared = search.o_comparison
        is_found = compared.valid & (compared.p.conflict != 0)
        return self.i_log_full & (is_found | search.o_log.valid)

    def _elaborate_log(self, m: Module, searches: Sequence[QueueSearch]) -> None:
        """Form the entry of the log; one scanner logs at a time."""

        def chosen(*values: Value) -> Value:
            if len(values) == 1:
                return values[0]
            each = zip(values, searches, strict=True)
            return reduce(or_, (Mux(search.o_log.valid, value, 0) for value, search in each))

        entry, logged = Signal(struct_layout(self._params.history_layout)), self.o_log.p
        conflict = chosen(*(search.o_log.p for search in searches))
        m.d.comb += [
            Value.cast(entry).eq(chosen(*(Value.cast(search.o_entry) for search in searches))),
            self.o_log.valid.eq(
                Cat(search.o_log.valid for search in searches).any() & ~self.i_log_full
            ),
            logged.thread.eq(self.i_thread),
            logged.other.eq(chosen(*(search.o_other for search in searches))),
            logged.conflict.eq(conflict),
            logged.thread_timestamp.eq(self.i_message.timestamp),
            logged.other_timestamp.eq(entry.timestamp),
            logged.signature.eq(
                reduce(
                    or_,
                    (
                        Mux(conflict & kind, both, 0)
                        for kind, both in intersections(self.i_message, entry).items()
                    ),
                )
            ),
        ]
