"""Wiring of a GPU detector's registers to its launches and to its report ring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.common.bits import total
from racetrap.rtl.common.registers import RegisterBlock
from racetrap.rtl.gpu.launch_control import LaunchControl
from racetrap.rtl.gpu.protection import connect_protection
from racetrap.rtl.gpu.report_path import ReportPath

#: Registers of one region of a table, behind ``REGION<n>_``.
REGION_REGISTERS = (
    "DATA_BASE_LO", "DATA_BASE_HI", "LINES", "METADATA_BASE_LO", "METADATA_BASE_HI",
)  # fmt: skip


def connect_launch(
    m: Module, params: GpuParams, registers: RegisterBlock, launch: LaunchControl, s_axil: Any,
    constants: Mapping[str, Mapping[str, int]],
) -> None:  # fmt: skip
    """Connect the addresses of data, metadata and ring, and the launch itself.

    Parameters
    ----------
    m : Module
        Module of the system.
    params : GpuParams
        Configuration.
    registers : RegisterBlock
        Registers, by the names that all detectors of a GPU have.
    launch : LaunchControl
        Launch control.
    s_axil : interface
        Port of the registers, from inside.
    constants : mapping
        Values of the registers that identify the instance.
    """
    wiring.connect(m, s_axil, registers.s_axil)
    registers.supply(m, constants)
    if params.regions > 1:
        m.d.comb += [
            region.eq(Cat(
                getattr(registers, f"region{number}_{name.lower()}").value
                for name in REGION_REGISTERS
            ))
            for number, region in enumerate(launch.i_regions)
        ]  # fmt: skip
    for name in launch.i_bases.shape().members:
        low = getattr(registers, f"{name}_base_lo").value
        high = getattr(registers, f"{name}_base_hi").value
        m.d.comb += launch.i_bases[name].eq(Cat(low, high))
    was_answered = Signal()
    m.d.sync += was_answered.eq(s_axil.bvalid)
    m.d.comb += [
        launch.i_launch.eq(registers.control.launch),
        launch.i_written.eq(s_axil.bvalid & ~was_answered),
    ]
    if params.regions == 1:
        m.d.comb += launch.i_size_log2.eq(registers.region_size_log2.value)
    m.d.comb += [
        launch.i_capacity_log2.eq(registers.report_capacity_log2.value),
        registers.status.busy.eq(launch.o_busy),
        registers.status.config_error.eq(launch.o_config_error),
    ]
    if params.protection:
        connect_protection(m, registers, launch.i_bounds, launch.i_attributes, locks=launch.o_taken)


def connect_reports(
    m: Module, registers: RegisterBlock, launch: LaunchControl, reports: ReportPath, irq: Any
) -> None:
    """Connect the ring's place, head and tail, the filter's switch and the interrupt line."""
    tail = registers.report_tail.value
    m.d.comb += [
        reports.i_base.eq(launch.o_report_base),
        reports.i_capacity_log2.eq(launch.o_report_capacity_log2),
        reports.i_tail.eq(tail),
        reports.i_filter_enable.eq(registers.control.report_filter_enable),
        registers.report_head.value.eq(reports.o_head),
        registers.status.ring_full.eq(reports.o_full),
    ]
    m.d.sync += irq.eq(registers.control.interrupt_enable & (reports.o_head != tail))


def connect_counters(
    m: Module, registers: RegisterBlock, counts: Sequence[Any], reports: ReportPath,
    others: Mapping[str, Value],
) -> None:  # fmt: skip
    """Connect event counters with the pulses of their names, given by part, the reports' and
    others."""
    pulses: dict[str, list[Value]] = {}
    for count in counts:
        for name in count.shape().members:
            pulses.setdefault(name, []).append(count[name])
    pulses.setdefault("reports_dropped", []).append(reports.o_dropped)
    increments = {name: total(values) for name, values in pulses.items()} | {
        "reports_written": reports.o_written,
        "reports_suppressed": reports.o_suppressed,
        "report_write_errors": reports.o_write_error,
        **others,
    }
    registers.count(m, increments, registers.control.clear_counters)
