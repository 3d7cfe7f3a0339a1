"""Controller of the Race Detection Module: check, scan of all other queues, push.

Ref: SigRace (ISCA'09) Section 3.2, Fig. 2 and 5(a); Section 4.3.1.
"""

from __future__ import annotations

from functools import reduce
from operator import xor

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.packets import Drop, RdmStepKind, Relation
from racetrap.golden_model.sigrace.params import WORD_BITS, SigraceParams
from racetrap.golden_model.sigrace.rdm import COUNTERS
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.sigrace.history_queue import HistoryQueues
from racetrap.rtl.sigrace.scanner import Scanner


def pulses_layout() -> data.StructLayout:
    """One bit for each event that the golden model counts."""
    return data.StructLayout(dict.fromkeys(COUNTERS, 1))


def arrival_layout(params: SigraceParams) -> data.StructLayout:
    """A decompressed message, and the link on which it arrived."""
    return data.StructLayout({
        "summary": struct_layout(params.summary_layout),
        "link": range(params.cores),
    })  # fmt: skip


def step_signature(params: SigraceParams) -> stream.Signature:
    """The trace port: a stream of steps without back-pressure."""
    return stream.Signature(struct_layout(params.rdm_step_layout), always_ready=True)


class RdmController(wiring.Component):
    """Takes one message after the other; a scan sees the push of every earlier message.

    A message takes three cycles (two if it is dropped), plus one for each thread, plus n + 2 for
    each queue of which n > 0 entries are compared.  ``i.ready`` depends on flip-flops only.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(arrival_layout(params)))``
        Messages.
    i_enable : ``In(1)``
        Check messages; otherwise only their sequence numbers are tracked.
    i_flush, i_clear_log : ``In(1)``
        Pulses: empty the queues, clear the log; done before the next message is taken.
    o_idle : ``Out(1)``
        No message, flush or clearing is being processed.
    o_arrival : ``Out(arrival_layout(params))``
        The message being processed, for CoreToThread and log.
    i_drop : ``In(3)``
        ``Drop`` of that message.
    o_follow : ``Out(1)``
        CoreToThread must expect its successor.
    o_log : ``Out(stream.Signature(log_layout, always_ready=True))``
        Conflicts to log.
    i_log_full : ``In(1)``
        The log is full.
    o_pushed, o_clear_log : ``Out(1)``
        The message goes into its queue; the log must be cleared.
    o_count : ``Out(pulses_layout())``
        One pulse for each event that is counted.
    o_step : ``Out(step_signature(params))``
        Every step, in order.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(arrival_layout(params))),
            "i_enable": In(1),
            "i_flush": In(1),
            "i_clear_log": In(1),
            "o_idle": Out(1),
            "o_arrival": Out(arrival_layout(params)),
            "i_drop": In(3),
            "o_follow": Out(1),
            "o_log": Out(stream.Signature(struct_layout(params.log_layout), always_ready=True)),
            "i_log_full": In(1),
            "o_pushed": Out(1),
            "o_clear_log": Out(1),
            "o_count": Out(pulses_layout()),
            "o_step": Out(step_signature(params)),
        })  # fmt: skip
        self._other = Signal(range(params.threads))
        self._lost = Signal(params.threads)

    def elaborate(self, platform):
        m = Module()
        m.submodules.queues = queues = HistoryQueues(self._params)
        m.submodules.scanner = scanner = Scanner(self._params)
        thread = self.o_arrival.summary.header.thread
        flush, clear_log = Signal(), Signal()
        m.d.sync += [
            flush.eq(self.i_flush | (flush & ~queues.i_flush)),
            clear_log.eq(self.i_clear_log | (clear_log & ~self.o_clear_log)),
        ]
        self._connect(m, queues, scanner)

        with m.FSM() as fsm:
            with m.State("IDLE"):
                # Ready is set below.
                m.d.comb += [queues.i_flush.eq(flush), self.o_clear_log.eq(clear_log)]
                with m.If(self.i.valid & self.i.ready):
                    m.d.sync += self.o_arrival.eq(self.i.payload)
                    m.next = "CHECK"
            with m.State("CHECK"):
                m.d.sync += [self._other.eq(0), self._lost.eq(0)]
                m.d.comb += self.o_follow.eq(1)
                m.next = "QUEUE"
                with m.If(~self.i_enable | (self.i_drop != Drop.NONE)):
                    m.next = "IDLE"
            with m.State("QUEUE"):
                with m.If((self._other == thread) | (queues.o_count == 0)):
                    self._next_queue(m)
                with m.Else():
                    m.d.comb += [queues.i_open.eq(1), scanner.i_start.eq(1)]
                    m.next = "SCAN"
            with m.State("SCAN"):
                with m.If(scanner.o_done):
                    m.d.sync += self._lost.bit_select(self._other, 1).eq(scanner.o_lost)
                    self._next_queue(m)
            with m.State("PUSH"):
                m.d.comb += [
                    queues.i_thread.eq(thread),
                    queues.i_push.valid.eq(1),
                    self.o_pushed.eq(1),
                ]
                m.next = "IDLE"
        m.d.comb += [
            self.i.ready.eq(fsm.ongoing("IDLE") & ~flush & ~clear_log),
            self.o_idle.eq(self.i.ready),
        ]
        self._elaborate_steps(m, fsm.ongoing("CHECK"), scanner)
        return m

    def _next_queue(self, m: Module) -> None:
        m.d.sync += self._other.eq(self._other + 1)
        m.next = "QUEUE"
        with m.If(self._other == self._params.threads - 1):
            m.next = "PUSH"

    def _connect(self, m: Module, queues: HistoryQueues, scanner: Scanner) -> None:
        summary = self.o_arrival.summary
        for block in (queues.i_push.p, scanner.i_message):
            for name in ("timestamp", "read", "write"):
                m.d.comb += block[name].eq(summary[name])
        m.d.comb += [
            queues.i_thread.eq(self._other),
            queues.i_position.eq(scanner.o_position),
            scanner.i_entry.eq(queues.o_entry),
            scanner.i_count.eq(queues.o_count),
            scanner.i_thread.eq(summary.header.thread),
            scanner.i_other.eq(self._other),
            scanner.i_log_full.eq(self.i_log_full),
        ]
        wiring.connect(m, scanner.o_log, wiring.flipped(self.o_log))

    def _elaborate_steps(self, m: Module, is_check: Value, scanner: Scanner) -> None:
        """Steps for the trace port, and pulses for the counters."""
        step, comparison, count = self.o_step.payload, scanner.o_comparison.p, self.o_count
        header = self.o_arrival.summary.header
        is_dropped = is_check & self.i_enable & (self.i_drop != Drop.NONE)
        is_conflict = scanner.o_comparison.valid & (comparison.conflict != 0)
        for name in ("core", "context", "thread", "sequence", "cause"):
            m.d.comb += step[name].eq(header[name])
        m.d.comb += [
            self.o_step.valid.eq(scanner.o_comparison.valid | self.o_pushed | is_dropped),
            count.messages.eq(self.o_pushed),
            count.ignored.eq(is_check & ~self.i_enable),
            count.comparisons.eq(scanner.o_comparison.valid),
            count.intersections.eq(
                scanner.o_comparison.valid & (comparison.relation == Relation.UNORDERED)
            ),
            count.conflicts.eq(is_conflict),
            count.lost_windows.eq(scanner.o_done & scanner.o_lost),
            count.log_dropped.eq(is_conflict & self.i_log_full),
        ]
        for drop in Drop:
            if drop != Drop.NONE:
                m.d.comb += count[f"dropped_{drop.name.lower()}"].eq(
                    is_dropped & (self.i_drop == drop)
                )
        digest = self._digest(m) if self._params.trace_port else 0
        with m.If(self.o_pushed):
            m.d.comb += [
                step.kind.eq(RdmStepKind.PUSH),
                step.lost.eq(self._lost),
                step.digest.eq(digest),
            ]
        with m.Elif(is_dropped):
            m.d.comb += [step.kind.eq(RdmStepKind.DROP), step.drop.eq(self.i_drop)]
        with m.Else():
            m.d.comb += [
                step.kind.eq(RdmStepKind.COMPARE),
                step.other.eq(self._other),
                step.position.eq(comparison.position),
                step.relation.eq(comparison.relation),
                step.conflict.eq(comparison.conflict),
            ]

    def _digest(self, m: Module) -> Signal:
        """XOR of the message's words; the message has been stable for several cycles."""
        summary = self.o_arrival.summary
        digest = Signal(WORD_BITS)
        words = [
            part[low : low + WORD_BITS]
            for part in (summary.timestamp, summary.read, summary.write)
            for low in range(0, len(part), WORD_BITS)
        ]
        m.d.sync += digest.eq(reduce(xor, words))
        return digest
