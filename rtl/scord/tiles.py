"""The whole ScoRD detector as tiles, joined by a crossbar.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring

from racetrap.rtl.common.bits import total
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.registers import RegisterBlock
from racetrap.rtl.gpu.crossbar import Crossbar
from racetrap.rtl.gpu.launch_control import LaunchControl
from racetrap.rtl.gpu.register_wiring import connect_counters, connect_launch, connect_reports
from racetrap.rtl.gpu.report_path import ReportPath
from racetrap.rtl.scord.slice_unit import SliceUnit
from racetrap.rtl.scord.sm_unit import SmUnit
from racetrap.rtl.scord.system import ScordSystem


class ScordTiles(ScordSystem):
    """SM units, slice units, and between them a crossbar, registers and the report path.

    Ports and registers are those of ``ScordSystem``, and so is what is checked; the timing of
    fences differs.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    """

    def elaborate(self, platform):
        m = Module()
        params = self._params
        registers = RegisterBlock(self.register_module.compile_registers(params))
        m.submodules.registers = registers
        m.submodules.launch_control = launch = LaunchControl(params)
        m.submodules.report_path = reports = ReportPath(params)
        units = self._elaborate_units(m, launch, registers)
        slices = self._elaborate_slices(m, launch, reports)
        self._elaborate_network(m, units, slices)
        self._elaborate_launch(m, launch, registers, reports, units, slices)
        constants = self.register_module.supplied_constants(params)
        connect_launch(m, params, registers, launch, wiring.flipped(self.s_axil), constants)
        wiring.connect(m, reports.m_axi, wiring.flipped(self.m_axi_report))
        connect_reports(m, registers, launch, reports, self.irq)
        counts = [count for each in slices for count in each.o_count]
        connect_counters(m, registers, counts, reports)
        if params.leaves_out:
            words = total([unit.o_left_out_words for unit in units])
            registers.count(m, {"accesses_left_out": words}, registers.control.clear_counters)
        return m

    def _elaborate_units(self, m: Module, launch: Any, registers: Any) -> Any:
        units = []
        for sm, port in enumerate(self.i_transaction):
            m.submodules[f"sm_{sm}"] = unit = SmUnit(self._params)
            wiring.connect(m, wiring.flipped(port), unit.i_transaction)
            m.d.comb += [
                unit.i_sm.eq(sm),
                unit.i_enable.eq(registers.control.enable & launch.o_launched),
                unit.i_hold.eq(launch.o_hold),
                self.o_fencing[sm].eq(unit.o_fencing),
            ]
            if self._params.leaves_out:
                m.d.comb += self.o_left_out[sm].eq(unit.o_left_out)
            units.append(unit)
        return units

    def _elaborate_slices(self, m: Module, launch: Any, reports: ReportPath) -> Any:
        params, slices = self._params, []
        for number in range(params.metadata_ports):
            m.submodules[f"slice_{number}"] = unit = SliceUnit(params)
            wiring.connect(m, unit.o_report, reports.i[number])
            m.d.comb += [unit.i_port.eq(number), unit.i_region.eq(launch.o_region)]
            m.d.sync += unit.i_reported.eq(unit.o_report.valid & unit.o_report.ready)
            if not params.local_bytes:
                wiring.connect(m, unit.m_axi_metadata, wiring.flipped(self.m_axi_metadata[number]))
            if params.trace_port:
                self._elaborate_trace(m, number, unit)
            slices.append(unit)
        return slices

    def _elaborate_network(self, m: Module, units: Sequence[Any], slices: Sequence[Any]) -> None:
        """Connect requests and responses."""
        params = self._params
        request, response = (
            struct_layout(params.request_layout), struct_layout(params.response_layout)
        )  # fmt: skip
        m.submodules.requests = requests = Crossbar(request, len(units), len(slices))
        m.submodules.responses = responses = Crossbar(response, len(slices), len(units))
        for unit, source, sink in zip(units, requests.i, responses.o, strict=True):
            wiring.connect(m, unit.o_request, source)
            wiring.connect(m, sink, unit.i_response)
        for unit, sink, source in zip(slices, requests.o, responses.i, strict=True):
            wiring.connect(m, sink, unit.i_request)
            wiring.connect(m, unit.o_response, source)

    def _elaborate_launch(
        self, m: Module, launch: Any, registers: Any, reports: ReportPath,
        units: Sequence[Any], slices: Sequence[Any],
    ) -> None:  # fmt: skip
        """Drain and clear the tiles by their levels."""
        tiles = [*units, *slices]
        clearing, is_quiet = Signal(), Signal()
        cleared = Cat(tile.o_cleared for tile in tiles)
        with m.If(launch.o_clear):
            m.d.sync += clearing.eq(1)
        with m.Elif(cleared.all()):
            m.d.sync += clearing.eq(0)
        has_reported = reports.o_idle
        m.d.comb += [
            is_quiet.eq(Cat(unit.o_quiet for unit in units).all()),
            *(unit.i_ask.eq(is_quiet) for unit in units),
            *(tile.i_clear.eq(clearing) for tile in tiles),
            reports.i_clear.eq(launch.o_clear),
            launch.i_busy.eq(clearing | cleared.any() | reports.o_busy),
            launch.i_idle.eq(has_reported & self._are_drained(m, launch, units)),
            registers.status.idle.eq(
                has_reported & Cat(unit.o_idle for unit in units).all() & ~launch.o_busy
            ),
        ]

    def _are_drained(self, m: Module, launch: Any, units: Sequence[Any]) -> Value:
        """Whether all SM units are drained for this launch; a level may still be of the last."""
        drained, was_low = Cat(unit.o_drained for unit in units), Signal(len(units))
        m.d.sync += was_low.eq((was_low & launch.o_hold.replicate(len(units))) | ~drained)
        return (drained & was_low).all()
