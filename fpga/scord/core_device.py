"""One SM's tracker and one detector bank behind a UART, for FPGAs too small for a whole system.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value
from amaranth.lib.wiring import connect

from racetrap.fpga.boards.device import LinkedDevice
from racetrap.fpga.gpu.board import largest_region
from racetrap.golden_model.scord.packets import PacketKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.registers import RegisterBlock
from racetrap.rtl.common.report_writer import RECORD_BYTES
from racetrap.rtl.common.stream import assign_stream
from racetrap.rtl.gpu.local_memory import LocalMemory
from racetrap.rtl.scord.detector_bank import DetectorBank
from racetrap.rtl.scord.lock_hash import block_masks_of
from racetrap.rtl.scord.registers import compile_registers
from racetrap.rtl.scord.tracker import Tracker

#: Registers of a whole system that a core has, at the same addresses.
CORE_REGISTERS = ("CONTROL", "STATUS", "REPORTS_DROPPED")


class ScordCoreDevice(LinkedDevice):
    """Link, tracker, bank and local memory; region fixed, few registers, no report ring.

    Input channel 0 has the SM's transactions, output channel 0 the records of race reports with
    ``sequence`` 0.  While the bank's queue is full, reports are dropped, counted in
    ``REPORTS_DROPPED``, and turn on the error light.  ``CONTROL`` has ``enable``, ``launch`` and
    ``clear_counters``.  A launch clears metadata, fence file, lock tables and barrier ids; it must
    come while ``STATUS.idle`` is set, and is ignored otherwise.  ``STATUS`` has ``busy`` and
    ``idle``.  All other registers answer with SLVERR.

    Parameters
    ----------
    params : ScordParams
        Configuration; one SM, one bank, ``local_bytes`` set and ``trace_port`` not.
    divisor : int
        Clock cycles of a bit on the UART.
    credits : int
        Transactions that the queue holds.

    Raises
    ------
    ValueError
        If the parameters need more than a core has.
    """

    def __init__(self, params: ScordParams, divisor: int, *, credits: int = 8):
        for name, value in (("sm_count", 1), ("banks", 1)):
            if getattr(params, name) != value:
                raise ValueError(
                    f"Parameter {name} must be {value} on a core, not {getattr(params, name)}"
                )
        largest_region(params).check(params)
        super().__init__(params, divisor, credits)
        self._params = params

    def elaborate(self, platform):
        m = Module()
        params = self._params
        link = self._elaborate_link(
            m,
            input_bits=params.transaction_layout.width,
            inputs=1,
            output_bits=8 * RECORD_BYTES,
            outputs=1,
        )
        m.submodules.tracker = tracker = Tracker(params)
        m.submodules.bank = bank = DetectorBank(params)
        m.submodules.memory = memory = LocalMemory(params)
        connect(m, tracker.o_packet, bank.i_packet)
        connect(m, bank.m_axi, memory.s_axi)
        records = link.o_record[0]
        assign_stream(m, tracker.i_transaction, records)
        assign_stream(m, link.i_record[0], bank.o_report[0])
        region = largest_region(params)
        m.d.comb += [
            tracker.i_block_masks.eq(block_masks_of(params, 0)),
            bank.i_region.data_base.eq(region.data_base),
            bank.i_region.size_log2.eq(region.size_log2),
        ]
        packet = tracker.o_packet
        is_fence = packet.valid & packet.ready & (packet.p.kind == PacketKind.FENCE)
        m.d.comb += tracker.i_fenced.eq(is_fence << packet.p.warp)
        self._elaborate_registers(m, link.m_axil, tracker, bank, is_empty=~records.valid)
        self._elaborate_lights(
            m, link, busy=records.valid, race=bank.o_report[0].valid,
            error=bank.o_count[0].reports_dropped,
        )  # fmt: skip
        return m

    def _elaborate_registers(
        self, m: Module, axi, tracker: Tracker, bank: DetectorBank, *, is_empty: Value
    ) -> None:
        m.submodules.registers = registers = RegisterBlock(
            compile_registers(self._params), names=CORE_REGISTERS
        )
        connect(m, axi, registers.s_axil)
        control, status = registers.control, registers.status
        dropped = registers.reports_dropped.count
        clear = Signal()
        m.d.comb += [
            tracker.i_enable.eq(control.enable),
            status.busy.eq(tracker.o_busy | bank.o_busy),
            # A report that waits for the host keeps the bank busy: it must be pulled first.
            status.idle.eq(is_empty & tracker.o_idle & bank.o_idle),
            clear.eq(control.launch & status.idle),
            tracker.i_clear.eq(clear),
            bank.i_clear.eq(clear),
            dropped.increment.eq(bank.o_count[0].reports_dropped),
            dropped.clear.eq(control.clear_counters),
        ]
