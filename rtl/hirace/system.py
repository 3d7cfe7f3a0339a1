"""The whole HiRace detector, between a GPU's SMs and its memory.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.rtl.common.axi import Axi4WriteSignature, AxiLiteSignature
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.registers import REGISTER_ADDRESS_BITS, RegisterBlock
from racetrap.rtl.gpu.launch_control import LaunchControl, TransactionGate
from racetrap.rtl.gpu.metadata_port import metadata_port
from racetrap.rtl.gpu.register_wiring import connect_counters, connect_launch, connect_reports
from racetrap.rtl.gpu.report_path import ReportPath
from racetrap.rtl.hirace.check_pipeline import trace_signature
from racetrap.rtl.hirace.detector_bank import DetectorBank
from racetrap.rtl.hirace.interleaver import Interleaver
from racetrap.rtl.hirace.registers import compile_registers, supplied_constants
from racetrap.rtl.hirace.tracker import Tracker


class HiraceSystem(wiring.Component):
    """Trackers, interleaver, detector banks, report path and registers.

    Each bank takes one packet a cycle.  Nothing is checked before the first launch
    (``CONTROL.launch``).  No combinational path leads from a ``valid`` input to a ``ready`` output.

    Parameters
    ----------
    params : HiraceParams
        Configuration.

    Members
    -------
    i_transaction : ``In(stream.Signature(transaction_layout)).array(sm_count)``
        Lane accesses and barriers of each SM.
    m_axi_metadata : ``Out(Axi4Signature).array(banks)``
        Metadata memory of the banks.
    m_axi_report : ``Out(Axi4WriteSignature)``
        Memory of the ring buffer, 64-bit data.
    s_axil : ``In(AxiLiteSignature)``
        Registers, described in ``hirace.rdl``.
    irq : ``Out(1)``
        High while the ring buffer holds reports that software has not read, if enabled.
    trace : ``Out({valid, payload: step_layout}).array(banks)``
        Each step of each bank, without back-pressure; only with ``trace_port``.
    """

    def __init__(self, params: HiraceParams):
        self._params = params
        transaction = stream.Signature(struct_layout(params.transaction_layout))
        ring = Axi4WriteSignature(address_bits=params.address_bits, data_bits=64, id_bits=1)
        members = {
            "i_transaction": In(transaction).array(params.sm_count),
            "m_axi_metadata": Out(metadata_port(params)).array(params.banks),
            "m_axi_report": Out(ring),
            "s_axil": In(AxiLiteSignature(address_bits=REGISTER_ADDRESS_BITS)),
            "irq": Out(1),
        }
        if params.trace_port:
            members["trace"] = Out(trace_signature(params)).array(params.banks)
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.registers = registers = RegisterBlock(compile_registers(params))
        m.submodules.launch_control = launch = LaunchControl(params)
        m.submodules.interleaver = interleaver = Interleaver(params)
        m.submodules.report_path = reports = ReportPath(params)
        gates, trackers = self._elaborate_sms(m, interleaver, registers, launch)
        banks = self._elaborate_banks(m, interleaver, reports, launch)
        clearing: list[Any] = [*trackers, *banks, reports]
        for part in clearing:
            m.d.comb += part.i_clear.eq(launch.o_clear)
        is_idle = Cat(part.o_idle for part in (*clearing, interleaver)).all()
        m.d.comb += [
            launch.i_idle.eq(is_idle & Cat(gate.o_closed for gate in gates).all()),
            launch.i_busy.eq(Cat(*(bank.o_busy for bank in banks), reports.o_busy).any()),
            registers.status.idle.eq(is_idle & ~launch.o_busy),
        ]
        connect_launch(
            m, params, registers, launch, wiring.flipped(self.s_axil), supplied_constants(params)
        )
        wiring.connect(m, reports.m_axi, wiring.flipped(self.m_axi_report))
        connect_reports(m, registers, launch, reports, self.irq)
        connect_counters(m, registers, [bank.o_count for bank in banks], reports)
        return m

    def _elaborate_sms(
        self, m: Module, interleaver: Interleaver, registers: RegisterBlock, launch: LaunchControl
    ) -> tuple[list[TransactionGate], list[Tracker]]:
        gates, trackers = [], []
        for sm, port in enumerate(self.i_transaction):
            m.submodules[f"gate_{sm}"] = gate = TransactionGate(self._params)
            m.submodules[f"tracker_{sm}"] = tracker = Tracker(self._params)
            wiring.connect(m, wiring.flipped(port), gate.i)
            wiring.connect(m, gate.o, tracker.i_transaction)
            wiring.connect(m, tracker.o_packet, interleaver.i_packet[sm])
            m.d.comb += [
                gate.i_hold.eq(launch.o_hold),
                tracker.i_sm.eq(sm),
                tracker.i_enable.eq(registers.control.enable & launch.o_launched),
            ]
            gates.append(gate)
            trackers.append(tracker)
        return gates, trackers

    def _elaborate_banks(
        self, m: Module, interleaver: Interleaver, reports: ReportPath, launch: LaunchControl
    ) -> list[DetectorBank]:
        banks = []
        for number in range(self._params.banks):
            m.submodules[f"bank_{number}"] = bank = DetectorBank(self._params)
            wiring.connect(m, interleaver.o_packet[number], bank.i_packet)
            wiring.connect(m, bank.m_axi, wiring.flipped(self.m_axi_metadata[number]))
            wiring.connect(m, bank.o_report, reports.i[number])
            if self._params.trace_port:
                wiring.connect(m, bank.trace, wiring.flipped(self.trace[number]))
            m.d.comb += [bank.i_bank.eq(number), bank.i_region.eq(launch.o_region)]
            banks.append(bank)
        return banks
