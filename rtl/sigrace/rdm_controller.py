"""Controller of the Race Detection Module: check, search of all other queues, push.

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
from racetrap.rtl.sigrace.search import Search


def counts_layout(params: SigraceParams) -> data.StructLayout:
    """Events in a cycle, for each counter of the golden model."""
    return data.StructLayout(dict.fromkeys(COUNTERS, params.scanners.bit_length()))


def arrival_layout(params: SigraceParams) -> data.StructLayout:
    """A decompressed message, and the link on which it arrived."""
    return data.StructLayout({
        "summary": struct_layout(params.summary_layout),
        "link": range(params.cores),
    })  # fmt: skip


def step_signature(params: SigraceParams) -> stream.Signature:
    """A scanner's trace port: a stream of steps without back-pressure."""
    return stream.Signature(struct_layout(params.rdm_step_layout), always_ready=True)


def trace_member(params: SigraceParams) -> wiring.Member:
    """The RDM's trace port, or one for each scanner if there are several."""
    port = Out(step_signature(params))
    return port if params.scanners == 1 else port.array(params.scanners)


def trace_ports(trace) -> list:
    """The trace ports of a member :func:`trace_member`, one for each scanner."""
    return list(trace) if isinstance(trace, (list, tuple)) else [trace]


class RdmController(wiring.Component):
    """Takes one message after the other; a search sees the push of every earlier message.

    A message takes three cycles (two if it is dropped), and as many as the scanner that takes
    longest: one for each of its queues, plus n + 2 for each of which n > 0 entries are compared.
    ``i.ready`` depends on flip-flops only.

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
    o_count : ``Out(counts_layout(params))``
        Events that are counted.
    o_step : ``Out(step_signature(params))``, ``.array(scanners)``
        Comparisons of each scanner, in order; after them, at the first, the end of the message.
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
            "o_count": Out(counts_layout(params)),
            "o_step": Out(step_signature(params)).array(params.scanners),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.search = search = Search(self._params)
        flush, clear_log = Signal(), Signal()
        m.d.sync += [
            flush.eq(self.i_flush | (flush & ~search.i_flush)),
            clear_log.eq(self.i_clear_log | (clear_log & ~self.o_clear_log)),
        ]
        self._connect(m, search)

        with m.FSM() as fsm:
            with m.State("IDLE"):
                # Ready is set below.
                m.d.comb += [search.i_flush.eq(flush), self.o_clear_log.eq(clear_log)]
                with m.If(self.i.valid & self.i.ready):
                    m.d.sync += self.o_arrival.eq(self.i.payload)
                    m.next = "CHECK"
            with m.State("CHECK"):
                m.d.comb += self.o_follow.eq(1)
                with m.If(~self.i_enable | (self.i_drop != Drop.NONE)):
                    m.next = "IDLE"
                with m.Else():
                    m.d.comb += search.i_start.eq(1)
                    m.next = "SEARCH"
            with m.State("SEARCH"):
                with m.If(search.o_done):
                    m.next = "PUSH"
            with m.State("PUSH"):
                m.d.comb += [search.i_push.eq(1), self.o_pushed.eq(1)]
                m.next = "IDLE"
        m.d.comb += [
            self.i.ready.eq(fsm.ongoing("IDLE") & ~flush & ~clear_log),
            self.o_idle.eq(self.i.ready),
        ]
        is_check = fsm.ongoing("CHECK")
        self._elaborate_counters(m, is_check, search)
        self._elaborate_steps(m, is_check, search)
        return m

    def _connect(self, m: Module, search: Search) -> None:
        summary = self.o_arrival.summary
        for name in ("timestamp", "read", "write"):
            m.d.comb += search.i_message[name].eq(summary[name])
        m.d.comb += [
            search.i_thread.eq(summary.header.thread),
            search.i_log_full.eq(self.i_log_full),
        ]
        wiring.connect(m, search.o_log, wiring.flipped(self.o_log))

    def _is_dropped(self, is_check: Value) -> Value:
        return is_check & self.i_enable & (self.i_drop != Drop.NONE)

    def _elaborate_counters(self, m: Module, is_check: Value, search: Search) -> None:
        """Connect the amounts for the counters."""
        count, compared = self.o_count, search.o_comparison
        m.d.comb += [
            count.messages.eq(self.o_pushed),
            count.ignored.eq(is_check & ~self.i_enable),
            count.comparisons.eq(sum(one.valid for one in compared)),
            count.intersections.eq(
                sum(one.valid & (one.p.relation == Relation.UNORDERED) for one in compared)
            ),
            count.conflicts.eq(sum(one.valid & (one.p.conflict != 0) for one in compared)),
            count.lost_windows.eq(search.o_loses),
            count.log_dropped.eq(search.o_dropped),
        ]
        for drop in Drop:
            if drop != Drop.NONE:
                m.d.comb += count[f"dropped_{drop.name.lower()}"].eq(
                    self._is_dropped(is_check) & (self.i_drop == drop)
                )

    def _elaborate_steps(self, m: Module, is_check: Value, search: Search) -> None:
        """Steps for the trace port: the first scanner's stream has the ends of messages, too."""
        is_dropped = self._is_dropped(is_check)
        digest = self._digest(m) if self._params.trace_port else 0
        for compared, port in zip(search.o_comparison, self.o_step, strict=True):
            self._elaborate_comparison(m, compared, port)
        first = self.o_step[0].payload
        with m.If(self.o_pushed):
            m.d.comb += [
                self.o_step[0].valid.eq(1),
                first.kind.eq(RdmStepKind.PUSH),
                first.lost.eq(search.o_lost),
                first.digest.eq(digest),
            ]
        with m.Elif(is_dropped):
            m.d.comb += [
                self.o_step[0].valid.eq(1),
                first.kind.eq(RdmStepKind.DROP),
                first.drop.eq(self.i_drop),
            ]

    def _elaborate_comparison(self, m: Module, compared, port) -> None:
        step, header = port.payload, self.o_arrival.summary.header
        for name in ("core", "context", "thread", "sequence", "cause"):
            m.d.comb += step[name].eq(header[name])
        m.d.comb += port.valid.eq(compared.valid)
        with m.If(compared.valid):
            m.d.comb += [
                step.kind.eq(RdmStepKind.COMPARE),
                *(
                    step[name].eq(compared.p[name])
                    for name in ("other", "position", "relation", "conflict")
                ),
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
