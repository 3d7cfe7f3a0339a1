"""The causality system with streams between its tiles that take any time."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module

from racetrap.rtl.causality.system import CausalitySystem
from racetrap.sim.cosim.causality.few_tiles import StreamDelay, delay_stream


class DelayedSystem(CausalitySystem):
    """A system that is launched, and idle, when nothing is on its way."""

    def elaborate(self, platform):
        self._delays: list[StreamDelay] = []
        return super().elaborate(platform)

    def _cross(self, m: Module, name: str, source: Any, sink: Any) -> None:
        self._delays.append(delay_stream(m, self._params, name, source, sink))

    def _elaborate_reports(self, m: Module, banks: Any, reports: Any) -> Any:
        parts = super()._elaborate_reports(m, banks, reports)
        idle = [*parts.idle, *(delay.o_idle for delay in self._delays)]
        return parts._replace(idle=idle)
