"""The whole ScoRD detector, between a GPU's SMs and its memory.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.arbiter import StreamArbiter
from racetrap.rtl.common.axi import Axi4WriteSignature, AxiLiteSignature
from racetrap.rtl.common.bits import total
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.registers import REGISTER_ADDRESS_BITS, RegisterBlock
from racetrap.rtl.gpu.launch_control import LaunchControl, TransactionGate
from racetrap.rtl.gpu.local_memory import LocalMemory
from racetrap.rtl.gpu.metadata_port import metadata_port
from racetrap.rtl.gpu.register_wiring import connect_counters, connect_launch, connect_reports
from racetrap.rtl.gpu.report_path import ReportPath
from racetrap.rtl.scord.access_buffer import AccessBuffer
from racetrap.rtl.scord.check_lane import trace_signature
from racetrap.rtl.scord.detector_bank import DetectorBank
from racetrap.rtl.scord.interleaver import Interleaver
from racetrap.rtl.scord.lock_hash import block_masks_of
from racetrap.rtl.scord.registers import compile_registers, supplied_constants
from racetrap.rtl.scord.tracker import Tracker


class ScordSystem(wiring.Component):
    """Trackers, interleaver, detector banks, report path and registers.

    A packet is at its bank's input five cycles after its transaction was taken; the banks
    of a port take one segment a cycle.  Nothing is checked before the first launch
    (``CONTROL.launch``).  No combinational path leads from a ``valid`` input to a ``ready`` output.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_transaction : ``In(stream.Signature(transaction_layout)).array(sm_count)``
        Transactions of each SM's coalescer.
    o_fencing : ``Out(warps_per_sm).array(sm_count)``
        Warps with a fence in flight: none of their transactions is taken, nor a barrier of their
        block.  An SM that offers no such transaction is not stalled.
    o_left_out : ``Out(1).array(sm_count)``
        The SM's transaction taken in this cycle is not checked: the access buffer drops it, or its
        line is not sampled; absent if the policy skips nothing.
    m_axi_metadata : ``Out(Axi4Signature).array(metadata_ports)``
        Metadata memory of the banks, an entry of each in one beat; absent if metadata are on chip.
    m_axi_report : ``Out(Axi4WriteSignature)``
        Memory of the ring buffer, 64-bit data.
    s_axil : ``In(AxiLiteSignature)``
        Registers, described in ``scord.rdl``.
    irq : ``Out(1)``
        High while the ring buffer holds reports that software has not read, if enabled.
    trace : ``Out({valid, payload: step_layout}).array(banks)``
        Each step of each bank, without back-pressure; only with ``trace_port``.
    trace_fences : ``Out({valid, payload: step_layout}).array(banks * (fence_lanes - 1))``
        For each bank, steps of the other fences that it counts in the same cycle; likewise.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        address_bits = params.address_bits
        members = {
            "i_transaction": In(stream.Signature(struct_layout(params.transaction_layout))).array(
                params.sm_count
            ),
            "o_fencing": Out(params.warps_per_sm).array(params.sm_count),
            "m_axi_report": Out(
                Axi4WriteSignature(address_bits=address_bits, data_bits=64, id_bits=1)
            ),
            "s_axil": In(AxiLiteSignature(address_bits=REGISTER_ADDRESS_BITS)),
            "irq": Out(1),
        }
        if params.leaves_out:
            members["o_left_out"] = Out(1).array(params.sm_count)
        if not params.local_bytes:
            members["m_axi_metadata"] = Out(metadata_port(params)).array(params.metadata_ports)
        if params.trace_port:
            trace = Out(trace_signature(params))
            members["trace"] = trace.array(params.banks)
            members["trace_fences"] = trace.array(params.banks * (params.fence_lanes - 1))
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.registers = registers = RegisterBlock(compile_registers(params))
        m.submodules.launch_control = launch = LaunchControl(params)
        m.submodules.interleaver = interleaver = Interleaver(params)
        m.submodules.report_path = reports = ReportPath(params)
        gates, buffers, trackers = self._elaborate_sms(m, interleaver)
        banks = self._elaborate_banks(m, interleaver)
        arbiters = self._elaborate_reports(m, banks, reports)

        clearing: list[Any] = [*trackers, *banks, reports]
        for part in clearing:
            m.d.comb += part.i_clear.eq(launch.o_clear)
        is_idle = Cat(
            *(part.o_idle for part in (*clearing, *buffers, interleaver)),
            *(~arbiter.o.valid for arbiter in arbiters),
        ).all()
        m.d.comb += [
            launch.i_idle.eq(is_idle & Cat(gate.o_closed for gate in gates).all()),
            launch.i_busy.eq(Cat(part.o_busy for part in clearing).any()),
            registers.status.idle.eq(is_idle & ~launch.o_busy),
        ]
        for gate in gates:
            m.d.comb += gate.i_hold.eq(launch.o_hold)
        enabled: list[Any] = [*trackers, *buffers]
        for part in enabled:
            m.d.comb += part.i_enable.eq(registers.control.enable & launch.o_launched)
        for bank in banks:
            m.d.comb += bank.i_region.eq(launch.o_region)
        connect_launch(
            m, params, registers, launch, wiring.flipped(self.s_axil), supplied_constants(params)
        )
        wiring.connect(m, reports.m_axi, wiring.flipped(self.m_axi_report))
        connect_reports(m, registers, launch, reports, self.irq)
        connect_counters(m, registers, [count for bank in banks for count in bank.o_count], reports)
        if params.leaves_out:
            left_out = total([buffer.o_count for buffer in buffers])
            registers.count(m, {"accesses_left_out": left_out}, registers.control.clear_counters)
        return m

    def _elaborate_sms(
        self, m: Module, interleaver: Interleaver
    ) -> tuple[list[TransactionGate], list[AccessBuffer], list[Tracker]]:
        gates, buffers, trackers = [], [], []
        for sm, port in enumerate(self.i_transaction):
            m.submodules[f"gate_{sm}"] = gate = TransactionGate(self._params)
            m.submodules[f"tracker_{sm}"] = tracker = Tracker(self._params)
            wiring.connect(m, wiring.flipped(port), gate.i)
            fencing = tracker.o_fencing
            if self._params.access_buffer_depth:
                m.submodules[f"access_buffer_{sm}"] = buffer = AccessBuffer(self._params)
                wiring.connect(m, gate.o, buffer.i)
                wiring.connect(m, buffer.o, tracker.i_transaction)
                fencing = fencing | buffer.o_fencing
                if self._params.leaves_out:
                    m.d.comb += self.o_left_out[sm].eq(buffer.o_left_out)
                buffers.append(buffer)
            else:
                wiring.connect(m, gate.o, tracker.i_transaction)
            wiring.connect(m, tracker.o_packet, interleaver.i_packet[sm])
            m.d.comb += [
                tracker.i_sm.eq(sm),
                tracker.i_block_masks.eq(block_masks_of(self._params, sm)),
                tracker.i_fenced.eq(interleaver.o_fenced[sm]),
                self.o_fencing[sm].eq(fencing),
            ]
            gates.append(gate)
            trackers.append(tracker)
        return gates, buffers, trackers

    def _elaborate_banks(self, m: Module, interleaver: Interleaver) -> list[DetectorBank]:
        params = self._params
        words, banks = params.words_per_cycle, []
        for number in range(params.metadata_ports):
            m.submodules[f"bank_{number}"] = bank = DetectorBank(params)
            m.d.comb += bank.i_port.eq(number)
            wiring.connect(m, interleaver.o_packet[number], bank.i_packet)
            if params.local_bytes:
                m.submodules[f"local_memory_{number}"] = memory = LocalMemory(params)
                wiring.connect(m, bank.m_axi, memory.s_axi)
            else:
                wiring.connect(m, bank.m_axi, wiring.flipped(self.m_axi_metadata[number]))
            if params.trace_port:
                for lane, trace in enumerate(bank.trace, words * number):
                    wiring.connect(m, trace, wiring.flipped(self.trace[lane]))
                first = number * len(bank.trace_fences)
                for fence, trace in enumerate(bank.trace_fences, first):
                    wiring.connect(m, trace, wiring.flipped(self.trace_fences[fence]))
            banks.append(bank)
        return banks

    def _elaborate_reports(
        self, m: Module, banks: Sequence[DetectorBank], reports: ReportPath
    ) -> list[StreamArbiter]:
        """Merge the reports of each port into one stream, by an arbiter if it has several banks."""
        arbiters: list[StreamArbiter] = []
        for number, bank in enumerate(banks):
            if self._params.words_per_cycle == 1:
                wiring.connect(m, bank.o_report[0], reports.i[number])
                continue
            arbiter = StreamArbiter(struct_layout(self._params.report_layout), len(bank.o_report))
            m.submodules[f"report_arbiter_{number}"] = arbiter
            for lane, port in zip(bank.o_report, arbiter.i, strict=True):
                wiring.connect(m, lane, port)
            wiring.connect(m, arbiter.o, reports.i[number])
            arbiters.append(arbiter)
        return arbiters
