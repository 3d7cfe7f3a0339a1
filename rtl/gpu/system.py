"""A whole GPU detector, between the GPU's SMs and its memory.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar, NamedTuple

from amaranth.hdl import Cat, Module, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.common.arbiter import StreamArbiter
from racetrap.rtl.common.axi import Axi4WriteSignature, AxiLiteSignature
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.registers import REGISTER_ADDRESS_BITS, RegisterBlock
from racetrap.rtl.gpu.check_lane import trace_signature
from racetrap.rtl.gpu.detector_bank import GpuDetectorBank
from racetrap.rtl.gpu.launch_control import LaunchControl, TransactionGate
from racetrap.rtl.gpu.local_memory import LocalMemory
from racetrap.rtl.gpu.metadata_port import metadata_port
from racetrap.rtl.gpu.protection import set_attributes
from racetrap.rtl.gpu.register_wiring import connect_counters, connect_launch, connect_reports
from racetrap.rtl.gpu.report_path import ReportPath


class ReportParts(NamedTuple):
    """What stands between banks and report path.

    Parameters
    ----------
    clearing : list of components
        Those that a launch clears; each has ``i_clear`` and ``o_idle``, and perhaps ``o_busy``.
    idle : list of Value
        For each of the others, whether it holds nothing.
    counts : list of views
        Pulses of events that they count.
    """

    clearing: list[Any]
    idle: list[Value]
    counts: list[Any]


class GpuSystem(wiring.Component):
    """Trackers, interleaver, detector banks, report path and registers.

    Nothing is checked before the first launch (``CONTROL.launch``).  No combinational path leads
    from a ``valid`` input to a ``ready`` output.

    A detector gives its module of registers, and the components that are its own; each is made of
    the parameters.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    ports : mapping, optional
        Members of the detector's own.

    Members
    -------
    i_transaction : ``In(stream.Signature(transaction_layout)).array(sm_count)``
        What each SM does.
    m_axi_metadata : ``Out(Axi4Signature).array(metadata_ports)``
        Metadata memory of the banks, an entry of each in one beat; absent if metadata are on chip.
    m_axi_report : ``Out(Axi4WriteSignature)``
        Memory of the ring buffer, 64-bit data.
    s_axil : ``In(AxiLiteSignature)``
        Registers, described in the detector's ``.rdl`` file.
    irq : ``Out(1)``
        High while the ring buffer holds reports that software has not read, if enabled.
    trace : ``Out({valid, payload: step_layout}).array(banks)``
        Each step of each bank, without back-pressure; only with ``trace_port``.
    """

    register_module: ModuleType
    tracker: ClassVar[type[Any]]
    interleaver: ClassVar[type[Any]]
    bank: ClassVar[type[Any]]

    def __init__(self, params: GpuParams, ports: Mapping[str, Any] | None = None):
        self._params: Any = params
        #: SMs and metadata ports that are there: a testbench may leave some out.
        self._sms: Sequence[int] = range(params.sm_count)
        self._ports: Sequence[int] = range(params.metadata_ports)
        transaction = stream.Signature(struct_layout(params.transaction_layout))
        ring = Axi4WriteSignature(address_bits=params.address_bits, data_bits=64, id_bits=1)
        members = {
            "i_transaction": In(transaction).array(params.sm_count),
            **(ports or {}),
            "m_axi_report": Out(ring),
            "s_axil": In(AxiLiteSignature(address_bits=REGISTER_ADDRESS_BITS)),
            "irq": Out(1),
        }
        if not params.local_bytes:
            members["m_axi_metadata"] = Out(metadata_port(params)).array(params.metadata_ports)
        if params.trace_port:
            members |= self._trace_ports(params)
        super().__init__(members)

    def _trace_ports(self, params: Any) -> dict[str, Any]:
        """Members with ``trace_port`` alone."""
        return {"trace": Out(trace_signature(params)).array(params.banks)}

    def _elaborate_input(
        self, m: Module, sm: int, gate: TransactionGate, tracker: Any
    ) -> list[Any]:
        """Connect an SM's gate with its tracker; gives what stands between, if anything does."""
        wiring.connect(m, gate.o, tracker.i_transaction)
        return []

    def _make_interleaver(self) -> Any:
        return self.interleaver(self._params)

    def _make_bank(self, number: int) -> Any:
        return self.bank(self._params)

    def _cross(self, m: Module, name: str, source: Any, sink: Any) -> None:
        """Connect a stream of an SM's or a bank's side with the rest."""
        wiring.connect(m, source, sink)

    def _elaborate_own(self, m: Module, sm: int, tracker: Any, interleaver: Any) -> None:
        """Connect what else of an SM is the detector's own."""

    def elaborate(self, platform):
        m = Module()
        params = self._params
        registers = RegisterBlock(self.register_module.compile_registers(params))
        m.submodules.registers = registers
        m.submodules.launch_control = launch = LaunchControl(params)
        m.submodules.interleaver = interleaver = self._make_interleaver()
        m.submodules.report_path = reports = ReportPath(params)
        gates, buffers, trackers = self._elaborate_sms(m, interleaver)
        banks = self._elaborate_banks(m, interleaver)
        own = self._elaborate_reports(m, banks, reports)
        of_banks = [self._to_clear(m, number, bank) for number, bank in enumerate(banks)]
        clearing: list[Any] = [*trackers, *of_banks, reports, *own.clearing]
        for part in clearing:
            m.d.comb += part.i_clear.eq(launch.o_clear)
        is_idle = Cat(
            *(part.o_idle for part in (*clearing, *buffers, interleaver)),
            *own.idle,
        ).all()
        # What clears in one cycle is not busy with it.
        busy = [part.o_busy for part in clearing if "o_busy" in part.signature.members]
        m.d.comb += [
            launch.i_idle.eq(is_idle & Cat(gate.o_closed for gate in gates).all()),
            launch.i_busy.eq(Cat(busy).any()),
            registers.status.idle.eq(is_idle & ~launch.o_busy),
        ]
        for gate in gates:
            m.d.comb += gate.i_hold.eq(launch.o_hold)
        for part in (*trackers, *buffers):
            m.d.comb += part.i_enable.eq(registers.control.enable & launch.o_launched)
        for bank in banks:
            m.d.comb += bank.i_region.eq(launch.o_region)
            if params.protection:
                m.d.comb += bank.i_attributes.eq(launch.o_attributes.metadata)
        constants = self.register_module.supplied_constants(params)
        connect_launch(m, params, registers, launch, wiring.flipped(self.s_axil), constants)
        wiring.connect(m, reports.m_axi, wiring.flipped(self.m_axi_report))
        if params.protection:
            set_attributes(m, self.m_axi_report, launch.o_attributes.report)
        connect_reports(m, registers, launch, reports, self.irq)
        counts = [*(count for bank in banks for count in bank.o_count), *own.counts]
        refused = {"launches_outside": launch.o_outside} if params.protection else {}
        connect_counters(m, registers, counts, reports, refused)
        return m

    def _elaborate_sms(
        self, m: Module, interleaver: Any
    ) -> tuple[list[TransactionGate], list[Any], list[Any]]:
        gates, buffers, trackers = [], [], []
        for sm, port in enumerate(self.i_transaction):
            m.submodules[f"gate_{sm}"] = gate = TransactionGate(self._params)
            m.submodules[f"tracker_{sm}"] = tracker = self.tracker(self._params)
            wiring.connect(m, wiring.flipped(port), gate.i)
            buffers += self._elaborate_input(m, sm, gate, tracker)
            self._cross(m, f"packet_{sm}", tracker.o_packet, interleaver.i_packet[sm])
            m.d.comb += tracker.i_sm.eq(sm)
            self._elaborate_own(m, sm, tracker, interleaver)
            gates.append(gate)
            trackers.append(tracker)
        return gates, buffers, trackers

    def _elaborate_banks(self, m: Module, interleaver: Any) -> list[GpuDetectorBank]:
        params, banks = self._params, []
        for place, number in enumerate(self._ports):
            m.submodules[f"bank_{number}"] = bank = self._make_bank(number)
            m.d.comb += bank.i_port.eq(number)
            self._elaborate_packets(m, number, interleaver.o_packet[place], bank)
            self._elaborate_memory(m, number, bank)
            if params.trace_port:
                self._elaborate_trace(m, number, bank)
            banks.append(bank)
        return banks

    def _elaborate_memory(self, m: Module, number: int, bank: Any) -> None:
        """Connect a port's banks with their metadata."""
        if self._params.local_bytes:
            m.submodules[f"local_memory_{number}"] = memory = LocalMemory(self._params)
            wiring.connect(m, bank.m_axi, memory.s_axi)
        else:
            wiring.connect(m, bank.m_axi, wiring.flipped(self.m_axi_metadata[number]))

    def _to_clear(self, m: Module, number: int, bank: Any) -> Any:
        """What a launch clears of a port's banks; here they themselves."""
        return bank

    def _elaborate_packets(self, m: Module, number: int, packets: Any, bank: Any) -> None:
        """Connect a port's banks with their packets."""
        wiring.connect(m, packets, bank.i_packet)

    def _elaborate_trace(self, m: Module, number: int, bank: Any) -> None:
        for lane, trace in enumerate(bank.trace, self._params.words_per_cycle * number):
            wiring.connect(m, trace, wiring.flipped(self.trace[lane]))

    def _elaborate_reports(
        self, m: Module, banks: Sequence[GpuDetectorBank], reports: ReportPath
    ) -> ReportParts:
        """Connect what the banks report with the report path.

        Here the reports of each port are merged into one stream, by an arbiter if it has several
        banks.
        """
        idle: list[Value] = []
        for number, bank in enumerate(banks):
            if self._params.words_per_cycle == 1:
                wiring.connect(m, bank.o_report[0], reports.i[number])
                continue
            arbiter = StreamArbiter(struct_layout(self._params.report_layout), len(bank.o_report))
            m.submodules[f"report_arbiter_{number}"] = arbiter
            for lane, port in zip(bank.o_report, arbiter.i, strict=True):
                wiring.connect(m, lane, port)
            wiring.connect(m, arbiter.o, reports.i[number])
            idle.append(~arbiter.o.valid)
        return ReportParts([], idle, [])
