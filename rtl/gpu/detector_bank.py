"""Detector banks that share a metadata port: accessor, and a check lane for each bank.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from amaranth.hdl import Cat, Module, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamFifo
from racetrap.rtl.gpu.check_lane import GpuCheckLane, trace_signature
from racetrap.rtl.gpu.metadata_accessor import MetadataAccessor
from racetrap.rtl.gpu.metadata_port import metadata_port
from racetrap.rtl.gpu.protection import attributes_layout, set_attributes
from racetrap.rtl.gpu.region import region_layout


class GpuDetectorBank(wiring.Component):
    """Checks segments in the order in which they arrive, all words of one in the same cycle.

    The words of a segment belong to the ``words_per_cycle`` banks of one metadata port, one word to
    each; a bank behaves as if it were alone. Throughput is one segment a cycle while metadata
    answers in time: with a memory that answers ``latency`` cycles after the request,
    ``outstanding`` must cover read, check and write.

    A detector gives its check lane, and finds the entries.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    ports : mapping, optional
        Members of the detector's own.

    Members
    -------
    i_port : ``In(range(metadata_ports))``
        Number of the metadata port, a constant; its banks follow one another.
    i_packet : ``In(stream.Signature(segment_layout))``
        Accesses of these banks' entries, and all fences.
    m_axi : ``Out(metadata_port(params))``
        Metadata in memory.
    i_region : ``In(region_layout(params))``
        Monitored region; constant while the bank is not idle.
    i_attributes : ``In(attributes_layout())``
        AxPROT and AxCACHE of ``m_axi``, likewise; only with ``protection``.
    i_clear : ``In(1)``
        Pulse, while the bank is idle: make metadata uninitialised and forget what else a launch
        clears.
    o_busy : ``Out(1)``
        High while that lasts, from the next cycle on; no packet is taken.
    o_idle : ``Out(1)``
        No packet, write or report is pending here.
    o_report : ``Out(stream.Signature(report of the lane)).array(words_per_cycle)``
        What the steps of each bank report.
    o_count : ``Out(data.StructLayout(pulses of the lane and of the port)).array(words_per_cycle)``
        One pulse for each event that is counted; the port's own are the first bank's.
    trace : ``Out(trace_signature(params)).array(words_per_cycle)``
        Every step of each bank, in order; only with ``trace_port``.
    """

    #: The part of each bank.
    lane: ClassVar[type[GpuCheckLane]]

    def __init__(self, params: GpuParams, ports: Mapping[str, Any] | None = None):
        self._params: Any = params
        words = params.words_per_cycle
        pulses = {**self.lane.pulses(params), **dict.fromkeys(self.port_pulses(params), 1)}
        trace = {"trace": Out(trace_signature(params)).array(words)}
        attributes = {"i_attributes": In(attributes_layout())}
        super().__init__({
            "i_port": In(range(params.metadata_ports)),
            "i_packet": In(stream.Signature(struct_layout(params.segment_layout))),
            "m_axi": Out(metadata_port(params)),
            "i_region": In(region_layout(params)),
            **(attributes if params.protection else {}),
            "i_clear": In(1),
            "o_busy": Out(1),
            "o_idle": Out(1),
            "o_report": Out(stream.Signature(self.lane.report(params))).array(words),
            "o_count": Out(data.StructLayout(pulses)).array(words),
            **(trace if params.trace_port else {}),
            **(ports or {}),
        })  # fmt: skip

    @classmethod
    def port_pulses(cls, params: GpuParams) -> tuple[str, ...]:
        """Pulses of the port; its first bank gives them."""
        return ("stall_cycles", "metadata_write_errors")

    @classmethod
    def settings(cls, params: GpuParams) -> tuple[str, ...]:
        """Inputs that a launch sets."""
        return ("i_region", "i_attributes") if params.protection else ("i_region",)

    @abstractmethod
    def _elaborate_location(
        self, m: Module, fifo: StreamFifo, accessor: MetadataAccessor
    ) -> tuple[list[Any], Value, list[Value]]:
        """Connect the way from the FIFO to the accessor, on which segments get their entries.

        Gives statements for it, whether nothing is on it, and what there is busy with a launch.
        """

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.accessor = accessor = MetadataAccessor(params)
        segment = struct_layout(params.segment_layout)
        m.submodules.fifo = fifo = StreamFifo(segment, params.packet_fifo_depth)
        statements, is_empty, is_busy = self._elaborate_location(m, fifo, accessor)
        m.d.comb += [
            fifo.i.valid.eq(self.i_packet.valid & ~self.o_busy),
            fifo.i.payload.eq(self.i_packet.payload),
            self.i_packet.ready.eq(fifo.i.ready & ~self.o_busy),
            *statements,
        ]
        lanes = [self._elaborate_lane(m, number, accessor) for number in range(len(self.o_count))]
        connect(m, accessor.m_axi, flipped(self.m_axi))
        if params.protection:
            set_attributes(m, self.m_axi, self.i_attributes)
        m.d.comb += [
            accessor.i_port.eq(self.i_port),
            accessor.i_region.eq(self.i_region),
            accessor.i_clear.eq(self.i_clear),
            self.o_busy.eq(accessor.o_busy | Cat(*is_busy, *(lane.o_busy for lane in lanes)).any()),
            self.o_idle.eq(
                fifo.o_empty
                & is_empty
                & accessor.o_idle
                & ~self.o_busy
                & Cat(lane.o_idle for lane in lanes).all()
            ),
            self.o_count[0].stall_cycles.eq(self.i_packet.valid & ~self.i_packet.ready),
            self.o_count[0].metadata_write_errors.eq(accessor.o_write_error),
        ]
        return m

    def _elaborate_lane(self, m: Module, number: int, accessor: MetadataAccessor) -> GpuCheckLane:
        m.submodules[f"lane_{number}"] = lane = self.lane(self._params)
        connect(m, accessor.o[number], lane.i)
        connect(m, lane.o_checked, accessor.i_checked[number])
        connect(m, lane.o_report, flipped(self.o_report[number]))
        m.d.comb += [
            lane.i_bank.eq(self._params.words_per_cycle * self.i_port + number),
            lane.i_clear.eq(self.i_clear),
        ]
        count = self.o_count[number]
        m.d.comb += [count[name].eq(lane.o_count[name]) for name in lane.o_count.shape().members]
        if number:
            m.d.comb += [count[name].eq(0) for name in self.port_pulses(self._params)]
        if self._params.trace_port:
            connect(m, lane.trace, flipped(self.trace[number]))
        return lane
