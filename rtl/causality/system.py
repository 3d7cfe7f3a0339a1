"""The whole causality detector, between a GPU's SMs and its memory.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section VI.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import Out

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality import registers
from racetrap.rtl.causality.collector import Collector
from racetrap.rtl.causality.detector_bank import DetectorBank
from racetrap.rtl.causality.interleaver import Interleaver
from racetrap.rtl.causality.mark_keeper import MarkKeeper
from racetrap.rtl.causality.notice_order import NoticeOrder
from racetrap.rtl.causality.tracker import Tracker
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamFifo
from racetrap.rtl.gpu.report_path import ReportPath
from racetrap.rtl.gpu.system import GpuSystem, ReportParts


class CausalitySystem(GpuSystem):
    """Trackers, banks, and the collector, which reports the races.

    SMs with their trackers, and banks with their memory, may be tiles of their own: streams alone
    lead between them and the middle, but for what a launch sets, and may take any time there.

    Each bank takes one packet a cycle.  Detection never waits for reports: while the FIFO behind
    the collector is full they are dropped and counted.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    trace_collector : ``Out({valid, payload: collector_event_layout})``
        What the collector tells, in order; only with ``trace_port``.
    """

    register_module = registers
    tracker, interleaver, bank = Tracker, Interleaver, DetectorBank

    def __init__(self, params: CausalityParams):
        super().__init__(params)

    def _trace_ports(self, params: CausalityParams) -> dict[str, Any]:
        collected = stream.Signature(
            struct_layout(params.collector_event_layout), always_ready=True
        )
        return super()._trace_ports(params) | {"trace_collector": Out(collected)}

    def _elaborate_reports(
        self, m: Module, banks: Sequence[Any], reports: ReportPath
    ) -> ReportParts:
        params = self._params
        m.submodules.collector = collector = Collector(params)
        keepers = [m.submodules[f"mark_keeper_{bank}"] for bank in range(params.banks)]
        m.submodules.notice_order = order = NoticeOrder(params)
        self._elaborate_notices(m, banks, keepers, order, collector)
        for sm in self._sms:
            tracker: Any = m.submodules[f"tracker_{sm}"]
            self._cross(m, f"marker_{sm}", tracker.o_marker, collector.i_marker[sm])
            self._cross(m, f"resume_{sm}", collector.o_resume[sm], tracker.i_resume)
        shape = struct_layout(params.report_layout)
        m.submodules.report_fifo = fifo = StreamFifo(shape, params.report_fifo_depth)
        dropped = Signal(data.StructLayout({"reports_dropped": 1}))
        m.d.comb += [
            fifo.i.payload.eq(collector.o_report.payload),
            fifo.i.valid.eq(collector.o_report.valid),
            collector.o_report.ready.eq(1),
            dropped.reports_dropped.eq(fifo.i.valid & ~fifo.i.ready),
        ]
        wiring.connect(m, fifo.o, reports.i[0])
        if params.trace_port:
            taken, trace = collector.o_trace, self.trace_collector
            m.d.comb += [trace.payload.eq(taken.told), trace.valid.eq(taken.valid)]
        return ReportParts(
            [collector], [order.o_idle, fifo.o_empty, *(keeper.o_idle for keeper in keepers)],
            [collector.o_counts, dropped],
        )  # fmt: skip

    def _elaborate_packets(self, m: Module, number: int, packets: Any, bank: Any) -> None:
        """Marks stay in front of their bank."""
        m.submodules[f"mark_keeper_{number}"] = keeper = MarkKeeper(self._params)
        wiring.connect(m, packets, keeper.i_packet)
        self._cross(m, f"bank_packet_{number}", keeper.o_packet, bank.i_packet)

    def _elaborate_notices(
        self, m: Module, banks: Sequence[Any], keepers: Sequence[Any], order: NoticeOrder,
        collector: Collector,
    ) -> None:  # fmt: skip
        """Connect banks with the collector, by way of the notices' order."""
        interleaver: Any = m.submodules.interleaver
        m.d.comb += [order.i_taken.eq(interleaver.o_taken), interleaver.i_hold.eq(order.o_hold)]
        layout = struct_layout(self._params.done_layout)
        for number, (bank, keeper) in enumerate(zip(banks, keepers, strict=True)):
            done = stream.Signature(layout, always_ready=True).create(path=(f"done_{number}",))
            self._cross(m, f"notice_{number}", bank.o_report[0], order.i_notice[number])
            self._cross(m, f"row_{number}", collector.o_row[number], bank.i_row)
            self._cross(m, f"done_{number}", bank.o_done, wiring.flipped(done))
            wiring.connect(m, order.o_notice[number], keeper.i_notice)
            wiring.connect(m, keeper.o_notice, collector.i_notice[number])
            leaves, noticed = (
                done.valid & done.payload.packet, done.valid & done.payload.notice
            )  # fmt: skip
            m.d.comb += [
                *(part.eq(leaves) for part in (order.i_leaves[number], keeper.i_leaves)),
                *(part.eq(noticed) for part in (order.i_noticed[number], keeper.i_noticed)),
                collector.i_arrives[number].eq(done.valid & done.payload.row),
            ]
