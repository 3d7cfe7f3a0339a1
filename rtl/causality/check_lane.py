"""Check lane: a bank's part of a metadata port, from packets with entries to steps and notices.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section VI.
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out, connect, flipped

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.check_pipeline import LATENCY, CheckPipeline
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamFifo
from racetrap.rtl.gpu.check_lane import GpuCheckLane

#: Places for notices with which a packet a cycle is checked while none is given.
_PLACES = LATENCY + 3


class CheckLane(GpuCheckLane):
    """Check lane with causality's pipeline, which reports notices for the collector.

    No notice is lost: a packet has a place in the FIFO before it may enter the pipeline, and gives
    it back if the collector need not know of it.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_row : ``In(stream.Signature(row_write_layout))``
        Rows of warps without a packet in the bank.
    i_fenced : ``In(1)``
        A warp has passed a ``fence.sc`` in this launch.
    i_epoch : ``In(1)``
        Pulse, while nothing is in the bank: begin an epoch.
    o_hold : ``Out(1)``
        There may be no place for a further packet's notice.
    o_leaves, o_noticed : ``Out(1)``
        Pulse: a packet leaves the pipeline, and with that whether it is a notice.
    """

    pipeline = CheckPipeline

    def __init__(self, params: CausalityParams):
        row = stream.Signature(struct_layout(params.row_write_layout))
        super().__init__(params, {
            "i_row": In(row), "i_fenced": In(1), "i_epoch": In(1), "o_hold": Out(1),
            "o_leaves": Out(1), "o_noticed": Out(1),
        })  # fmt: skip

    @classmethod
    def pulses(cls, params):
        names = (
            "accesses", "unmonitored", "messages_met", "messages_dropped", "tag_conflicts",
            "metadata_read_errors",
        )  # fmt: skip
        return dict.fromkeys(names, 1)

    @classmethod
    def report(cls, params):
        return struct_layout(params.notice_layout)

    def _elaborate_own(self, m: Module, pipeline: CheckPipeline) -> None:
        connect(m, flipped(self.i_row), pipeline.i_row)
        m.d.comb += [
            pipeline.i_fenced.eq(self.i_fenced),
            pipeline.i_clear.eq(self.i_clear),
            pipeline.i_epoch.eq(self.i_epoch),
            self.o_busy.eq(pipeline.o_busy),
        ]

    def _elaborate_reports(self, m: Module, pipeline: CheckPipeline) -> None:
        places = max(self._params.report_fifo_depth, _PLACES)
        m.submodules.notices = notices = StreamFifo(self.report(self._params), places)
        connect(m, notices.o, flipped(self.o_report))
        # Places that neither a notice nor a packet on the way has.
        free = Signal(range(places + 1), init=places)
        given_back = pipeline.o_leaves & ~pipeline.o_notice.valid
        m.d.sync += free.eq(free - self.i.valid + given_back + (notices.o.valid & notices.o.ready))
        m.d.comb += [
            notices.i.valid.eq(pipeline.o_notice.valid),
            notices.i.payload.eq(pipeline.o_notice.p),
            # The packet that was let through in the cycle before has not been counted yet.
            self.o_hold.eq(free < 2),
            self.o_idle.eq(free == places),
            self.o_leaves.eq(pipeline.o_leaves),
            self.o_noticed.eq(pipeline.o_notice.valid),
        ]

    def _counted(self, m: Module, pipeline: CheckPipeline):
        step = pipeline.o_step.p
        return {
            "accesses": step.monitored,
            "unmonitored": ~step.monitored,
            "messages_met": step.met,
            "messages_dropped": pipeline.o_dropped,
            "tag_conflicts": step.displaced,
            "metadata_read_errors": step.read_error,
        }
