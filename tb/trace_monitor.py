"""Monitor of a bank's trace port."""

from __future__ import annotations

from pyuvm import ConfigDB, uvm_analysis_port, uvm_monitor

from racetrap.tb.bench import Bench
from racetrap.tb.codec import step_reader

__all__ = ["TraceMonitor"]


class TraceMonitor(uvm_monitor):
    """Publishes (bank, ``Step``) for each step on ``trace[bank]``.

    Parameters
    ----------
    name, parent
        As for every component.
    bank : int
        Number of the bank.

    Attributes
    ----------
    steps : uvm_analysis_port
        Where steps are published.
    """

    def __init__(self, name, parent, bank: int):
        self._bank = bank
        super().__init__(name, parent)

    def build_phase(self) -> None:
        bench: Bench = ConfigDB().get(self, "", "BENCH")
        self.steps = uvm_analysis_port("steps", self)
        self._read = bench.pins.reader(f"trace__{self._bank}__payload")
        self._step = step_reader(bench.params)
        bench.clocking.when(bench.pins.flag(f"trace__{self._bank}__valid"), self._seen)

    def _seen(self) -> None:
        self.steps.write((self._bank, self._step(self._read())))
