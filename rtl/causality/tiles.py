"""The whole causality detector as tiles, joined by the middle of the whole system.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section VI.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Module, Signal

from racetrap.rtl.causality.slice_unit import SliceUnit
from racetrap.rtl.causality.sm_unit import SmUnit
from racetrap.rtl.causality.system import CausalitySystem
from racetrap.rtl.gpu.report_path import ReportPath
from racetrap.rtl.gpu.system import ReportParts
from racetrap.rtl.gpu.tiles import GpuTiles

#: Resumes that may be on their way to an SM.
_MOST_RESUMES = 255


class CausalityTiles(GpuTiles, CausalitySystem):
    """SM units and slice units around interleaver, collector, registers and report path.

    Ports, registers and what is checked are those of ``CausalitySystem``.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    """

    sm_unit, bank = SmUnit, SliceUnit

    def _elaborate_unit(self, m: Module, place: int, unit: Any, interleaver: Any) -> None:
        sink = interleaver.i_packet[place]
        self._cross(m, f"packet_{self._sms[place]}", unit.o_packet, sink)
        m.d.sync += unit.i_packet_arrived.eq(sink.valid & sink.ready)

    def _elaborate_reports(
        self, m: Module, banks: Sequence[Any], reports: ReportPath
    ) -> ReportParts:
        parts = super()._elaborate_reports(m, banks, reports)
        collector: Any = m.submodules.collector
        idle = []
        for sm in self._sms:
            unit: Any = m.submodules[f"tracker_{sm}"]
            marker, resume = collector.i_marker[sm], collector.o_resume[sm]
            sent = Signal(range(_MOST_RESUMES + 1), name=f"resumes_{sm}")
            m.d.sync += [
                unit.i_marker_arrived.eq(marker.valid & marker.ready),
                sent.eq(sent + (resume.valid & resume.ready) - unit.o_resumed),
            ]
            idle.append(~sent.any())
        return parts._replace(idle=[*parts.idle, *idle])
