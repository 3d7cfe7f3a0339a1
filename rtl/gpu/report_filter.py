"""Report filter: suppresses reports whose (PC, kind of race) has been reported before.

Ref: ScoRD (ISCA'20) Section IV-A (a race is identified by its PC and kind).
"""

from __future__ import annotations

from functools import reduce
from operator import xor

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.gpu.report_filter import RACE_BITS
from racetrap.rtl.common.layout import struct_layout


class ReportFilter(wiring.Component):
    """Direct-mapped table of the latest (PC, kind) pairs; a repeat is suppressed.

    The whole pair is compared, so only true repeats are suppressed, and an evicted pair is reported
    again.  While disabled, every report passes and the table is not changed. Latency is two cycles,
    throughput one report in three cycles.  After reset and ``i_clear`` the table is cleared, one
    entry a cycle.  ``i.ready`` depends on flip-flops only.

    Parameters
    ----------
    params : GpuParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(report_layout))``
        Reports of the banks.
    o : ``Out(stream.Signature(report_layout))``
        Reports that pass.
    i_enable : ``In(1)``
        Suppress repeats.
    i_clear : ``In(1)``
        Pulse: forget every pair; the filter must be idle.
    o_suppressed : ``Out(1)``
        Pulse: a report was suppressed.
    o_busy : ``Out(1)``
        Clearing; nothing is taken.
    o_idle : ``Out(1)``
        Not busy, and no report is held here.
    """

    def __init__(self, params: GpuParams):
        self._params = params
        report = stream.Signature(struct_layout(params.report_layout))
        super().__init__({
            "i": In(report),
            "o": Out(report),
            "i_enable": In(1),
            "i_clear": In(1),
            "o_suppressed": Out(1),
            "o_busy": Out(1),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        entries = self._params.report_filter_entries
        pair_layout = data.StructLayout({"pc": self._params.pc_bits, "race": RACE_BITS})
        m.submodules.table = table = Memory(shape=pair_layout, depth=entries, init=[])
        read, write = table.read_port(), table.write_port()

        pair = Signal(pair_layout)
        index = Signal(range(entries))
        is_repeat = Signal()
        m.d.comb += [
            pair.pc.eq(self.i.payload.pc),
            pair.race.eq(self.i.payload.race),
            read.addr.eq(self._index(pair)),
        ]
        held = Signal.like(pair)
        m.d.comb += is_repeat.eq(self.i_enable & (Value.cast(read.data) == Value.cast(held)))

        with m.FSM(init="CLEAR"):
            with m.State("CLEAR"):
                # Race kind NONE marks an empty entry: no report has it.
                m.d.comb += [self.o_busy.eq(1), write.addr.eq(index), write.en.eq(1)]
                m.d.sync += index.eq(index + 1)
                with m.If(index == entries - 1):
                    m.next = "EMPTY"
            with m.State("EMPTY"):
                m.d.comb += [self.i.ready.eq(1), self.o_idle.eq(1)]
                with m.If(self.i.valid):
                    m.d.sync += [
                        self.o.payload.eq(self.i.payload), held.eq(pair), index.eq(read.addr),
                    ]  # fmt: skip
                    m.next = "COMPARE"
                with m.Elif(self.i_clear):
                    m.d.sync += index.eq(0)
                    m.next = "CLEAR"
            with m.State("COMPARE"):
                m.d.comb += [
                    write.addr.eq(index),
                    write.data.eq(held),
                    write.en.eq(self.i_enable),
                    self.o_suppressed.eq(is_repeat),
                ]
                with m.If(is_repeat):
                    m.next = "EMPTY"
                with m.Else():
                    m.d.sync += self.o.valid.eq(1)
                    m.next = "PASS"
            with m.State("PASS"):
                with m.If(self.o.ready):
                    m.d.sync += self.o.valid.eq(0)
                    m.next = "EMPTY"
        return m

    def _index(self, pair) -> Value:
        bits = self._params.report_filter_entries.bit_length() - 1
        chunks = [pair.pc[low : low + bits] for low in range(0, len(pair.pc), bits)]
        return reduce(xor, chunks, pair.race)[:bits]
