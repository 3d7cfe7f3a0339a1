"""Agent of an output stream of the device: takes payloads, with random back-pressure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyuvm import ConfigDB, uvm_agent, uvm_analysis_port

from racetrap.golden_model.layout import Layout
from racetrap.tb.bench import Bench
from racetrap.tb.codec import field_reader

__all__ = ["SinkAgent"]


class SinkAgent(uvm_agent):
    """Takes what an output stream offers.

    Parameters
    ----------
    name, parent
        As for every component.
    port : str
        Prefix of the stream's ports in Verilog.
    layout : Layout
        Layout of its payload.
    decode : callable
        Given the values of all leaf fields, what the monitor publishes.
    stall : float
        Probability that nothing is taken in a cycle.

    Attributes
    ----------
    monitor : uvm_analysis_port
        Publishes each payload that was taken, as ``decode`` gives it.
    """

    def __init__(
        self, name, parent, port: str, layout: Layout, decode: Callable[..., Any], stall: float
    ):
        self._port, self._layout, self._decode, self._stall = port, layout, decode, stall
        super().__init__(name, parent)

    def build_phase(self) -> None:
        bench: Bench = ConfigDB().get(self, "", "BENCH")
        port, pins = self._port, bench.pins
        self.monitor = uvm_analysis_port("monitor", self)
        self._read = pins.reader(f"{port}__payload")
        self._fields = field_reader(self._layout)
        self._ready = pins.writer(f"{port}__ready", 1)
        bench.clocking.when(pins.handshake(f"{port}__"), self._taken)
        if self._stall:
            self._rng = bench.random(port)
            bench.clocking.when(pins.flag(f"{port}__valid"), self._stall_at_random)

    def _taken(self) -> None:
        self.monitor.write(self._decode(*self._fields(self._read())))

    def _stall_at_random(self) -> None:
        self._ready(self._rng.random() >= self._stall)
