"""Agent of an input stream of the device: sequencer, driver with idle cycles, monitor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cocotb.triggers import Event
from pyuvm import (
    ConfigDB,
    uvm_agent,
    uvm_analysis_port,
    uvm_driver,
    uvm_sequence_item,
    uvm_sequencer,
)

from racetrap.golden_model.layout import Layout
from racetrap.tb.bench import Bench
from racetrap.tb.codec import field_reader

__all__ = ["StreamAgent", "StreamItem"]


class StreamItem(uvm_sequence_item):
    """One payload to be offered.

    Parameters
    ----------
    payload : NamedTuple
        The payload, its fields named as in the stream's layout.
    idle : int
        Cycles for which nothing is offered before it.
    """

    def __init__(self, payload: Any, idle: int = 0):
        super().__init__("item")
        self.payload = payload
        self.idle = idle


class _Driver(uvm_driver):
    def __init__(self, name: str, parent: StreamAgent, port: str, layout: Layout, bench: Bench):
        super().__init__(name, parent)
        self._clocking = bench.clocking
        self._pack = layout.pack
        self._payload = bench.pins.writer(f"{port}__payload")
        self._valid = bench.pins.writer(f"{port}__valid")
        self._taken = Event()
        bench.clocking.when(bench.pins.handshake(f"{port}__"), self._accepted)

    def _accepted(self) -> None:
        self._valid(0)
        self._taken.set()

    async def run_phase(self) -> None:
        while True:
            item = await self.seq_item_port.get_next_item()
            if item.idle:
                await self._clocking.cycles(item.idle)
            self._taken.clear()
            self._payload(self._pack(item.payload._asdict()))
            self._valid(1)
            await self._taken.wait()
            self.seq_item_port.item_done()


class _Monitor(uvm_analysis_port):
    """Publishes what the wires held when the device accepted it."""

    def __init__(
        self,
        name: str,
        parent: StreamAgent,
        port: str,
        layout: Layout,
        decode: Callable[..., Any],
        bench: Bench,
    ):
        super().__init__(name, parent)
        self._read = bench.pins.reader(f"{port}__payload")
        self._fields = field_reader(layout)
        self._decode = decode
        # Registered before the driver's function, which takes the payload away.
        bench.clocking.when(bench.pins.handshake(f"{port}__"), self._accepted)

    def _accepted(self) -> None:
        self.write(self._decode(*self._fields(self._read())))


class StreamAgent(uvm_agent):
    """Agent of an input stream.

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

    Attributes
    ----------
    sequencer : uvm_sequencer
        Takes ``StreamItem``.
    monitor : uvm_analysis_port
        Publishes each payload that was accepted, as ``decode`` gives it.
    """

    def __init__(self, name, parent, port: str, layout: Layout, decode: Callable[..., Any]):
        self._port, self._layout, self._decode = port, layout, decode
        super().__init__(name, parent)

    def build_phase(self) -> None:
        bench = ConfigDB().get(self, "", "BENCH")
        port, layout = self._port, self._layout
        self.sequencer = uvm_sequencer("sequencer", self)
        self.monitor = _Monitor("monitor", self, port, layout, self._decode, bench)
        self._driver = _Driver("driver", self, port, layout, bench)

    def connect_phase(self) -> None:
        self._driver.seq_item_port.connect(self.sequencer.seq_item_export)
