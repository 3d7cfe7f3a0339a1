"""Check lane: a bank's part of a metadata port, from packets with entries to steps and reports.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, ClassVar

from amaranth.hdl import Module, ValueLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamFifo
from racetrap.rtl.gpu.metadata_accessor import checked_packet, packet_with_entry
from racetrap.rtl.gpu.report_encoder import ReportEncoder


def trace_signature(params: GpuParams) -> stream.Signature:
    """The trace port: a stream of steps without back-pressure."""
    return stream.Signature(struct_layout(params.step_layout), always_ready=True)


class GpuCheckLane(wiring.Component):
    """Checks one packet a cycle, counts events and queues reports.

    A detector gives its pipeline, and what its steps count and report.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    ports : mapping, optional
        Members of the detector's own.

    Members
    -------
    i_bank : ``In(range(banks))``
        Number of the bank for its reports, a constant.
    i : ``In(stream.Signature(packet_with_entry(params), always_ready=True))``
        Packets, in order.
    o_checked : ``Out(stream.Signature(checked_packet(params), always_ready=True))``
        With each packet: the entry left behind, for the accessor.
    i_clear : ``In(1)``
        Pulse: forget what a launch clears; nothing may be in the pipeline.
    o_busy : ``Out(1)``
        High while that lasts.
    o_idle : ``Out(1)``
        No report is held here.
    o_report : ``Out(stream.Signature(report(params)))``
        What the steps report.
    o_count : ``Out(data.StructLayout(pulses(params)))``
        One pulse for each event that is counted.
    trace : ``Out(trace_signature(params))``
        Every step, in order.
    """

    #: The detector's check pipeline, which is made of the parameters.
    pipeline: ClassVar[type[Any]]

    def __init__(self, params: GpuParams, ports: Mapping[str, Any] | None = None):
        self._params: Any = params
        super().__init__({
            "i_bank": In(range(params.banks)),
            "i": In(stream.Signature(packet_with_entry(params), always_ready=True)),
            "o_checked": Out(stream.Signature(checked_packet(params), always_ready=True)),
            "i_clear": In(1),
            "o_busy": Out(1),
            "o_idle": Out(1),
            "o_report": Out(stream.Signature(self.report(params))),
            "o_count": Out(data.StructLayout(self.pulses(params))),
            "trace": Out(trace_signature(params)),
            **(ports or {}),
        })  # fmt: skip

    @classmethod
    @abstractmethod
    def pulses(cls, params: GpuParams) -> dict[str, int]:
        """Bits of the pulse of each event that a bank counts."""

    @classmethod
    @abstractmethod
    def report(cls, params: GpuParams) -> data.StructLayout:
        """Payload of the reports."""

    def _elaborate_own(self, m: Module, pipeline: Any) -> None:
        """Connect what only the detector's pipeline has."""

    @abstractmethod
    def _elaborate_reports(self, m: Module, pipeline: Any) -> None:
        """Queue what the steps report."""

    @abstractmethod
    def _counted(self, m: Module, pipeline: Any) -> Mapping[str, ValueLike]:
        """What a step counts, by pulse; connects what else is counted."""

    def elaborate(self, platform):
        m = Module()
        m.submodules.pipeline = pipeline = self.pipeline(self._params)
        connect(m, flipped(self.i), pipeline.i)
        connect(m, pipeline.o_checked, flipped(self.o_checked))
        connect(m, pipeline.o_step, flipped(self.trace))
        self._elaborate_own(m, pipeline)
        self._elaborate_reports(m, pipeline)
        pulses = dict(self._counted(m, pipeline))
        with m.If(pipeline.o_step.valid):
            m.d.comb += [self.o_count[name].eq(pulse) for name, pulse in pulses.items()]
        return m


class RaceLane(GpuCheckLane):
    """Check lane whose steps find races, and report them.

    Detection never waits for reports: while the FIFO is full they are dropped and counted.  The
    ``sequence`` of a report is 0.
    """

    #: Kinds of race; that of number 0 is none.
    race_kinds: ClassVar[type[IntEnum]]

    @classmethod
    def report(cls, params):
        return struct_layout(params.report_layout)

    @abstractmethod
    def _own_fields(self, step: Any, owner: Any) -> Mapping[str, ValueLike]:
        """As those of ``ReportEncoder``."""

    def _races(self, step: Any) -> dict[str, ValueLike]:
        """What a step counts of its race."""
        return {f"races_{kind.name.lower()}": step.race == kind for kind in self.race_kinds if kind}

    def _elaborate_reports(self, m, pipeline):
        params, steps = self._params, pipeline.o_step
        m.submodules.encoder = encoder = ReportEncoder(params, self._own_fields)
        m.submodules.reports = reports = StreamFifo(self.report(params), params.report_fifo_depth)
        connect(m, reports.o, flipped(self.o_report))
        m.d.comb += [
            encoder.i_bank.eq(self.i_bank),
            encoder.i_step.eq(steps.p),
            reports.i.payload.eq(encoder.o_report),
            reports.i.valid.eq(steps.valid & (steps.p.race != self.race_kinds(0))),
            self.o_count.reports_dropped.eq(reports.i.valid & ~reports.i.ready),
            self.o_idle.eq(reports.o_empty),
        ]
