"""Monitor of a trace port."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyuvm import ConfigDB, uvm_analysis_port, uvm_monitor

from racetrap.golden_model.layout import Layout
from racetrap.tb.bench import Bench
from racetrap.tb.codec import field_reader

__all__ = ["TraceMonitor"]


class TraceMonitor(uvm_monitor):
    """Publishes each step on a trace port.

    Parameters
    ----------
    name, parent
        As for every component.
    port : str
        Prefix of the trace port in Verilog.
    layout : Layout
        Layout of its payload.
    decode : callable
        Given the values of all leaf fields, what is published.

    Attributes
    ----------
    steps : uvm_analysis_port
        Where steps are published.
    """

    def __init__(self, name, parent, port: str, layout: Layout, decode: Callable[..., Any]):
        self._port, self._layout, self._decode = port, layout, decode
        super().__init__(name, parent)

    def build_phase(self) -> None:
        bench: Bench = ConfigDB().get(self, "", "BENCH")
        self.steps = uvm_analysis_port("steps", self)
        self._read = bench.pins.reader(f"{self._port}__payload")
        self._fields = field_reader(self._layout)
        bench.clocking.when(bench.pins.flag(f"{self._port}__valid"), self._seen)

    def _seen(self) -> None:
        self.steps.write(self._decode(*self._fields(self._read())))
