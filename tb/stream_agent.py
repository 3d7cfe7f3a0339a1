"""Agents of the device's streams: monitors, drivers with idle cycles, sinks that stall."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import Event
from pyuvm import (
    ConfigDB,
    uvm_agent,
    uvm_analysis_port,
    uvm_driver,
    uvm_sequence,
    uvm_sequence_item,
    uvm_sequencer,
)

from racetrap.golden_model.layout import Layout
from racetrap.tb.testbench import Testbench


class StreamMonitor(uvm_analysis_port):
    """Publishes the payloads that a stream hands over, as the wires hold them.

    Parameters
    ----------
    name, parent
        As for every component.
    port : str
        Prefix of the stream's ports in Verilog; without a ``ready``, every valid payload counts.
    layout : Layout
        Layout of the payload.
    decode : callable
        Given the values of all leaf fields, the object that is published.
    """

    def __init__(self, name, parent, port: str, layout: Layout, decode: Callable[..., Any]):
        super().__init__(name, parent)
        testbench: Testbench = ConfigDB().get(self, "", "TESTBENCH")
        pins = testbench.pins
        self._read = pins.reader(f"{port}__payload")
        self._fields = [(offset, (1 << width) - 1) for _, offset, width in layout.flat()]
        self._decode = decode
        has_ready = pins.has(f"{port}__ready")
        mask = pins.handshake(f"{port}__") if has_ready else pins.flag(f"{port}__valid")
        testbench.clocking.when(mask, self._publish)

    def _publish(self) -> None:
        word = self._read()
        self.write(self._decode(*[word >> offset & mask for offset, mask in self._fields]))


class _Item(uvm_sequence_item):
    """One payload to be offered, after some cycles in which nothing is."""

    def __init__(self, payload: Any, idle: int):
        super().__init__("item")
        self.payload, self.idle = payload, idle


class StreamSequence(uvm_sequence):
    """Payloads of one input stream, in order, with random idle cycles between them.

    Parameters
    ----------
    payloads : iterable of NamedTuple
        Payloads, whose fields are named as in the stream's layout.
    busy : float
        Probability that a payload follows without an idle cycle.
    longest_idle : int
        Most idle cycles.
    rng : Random or None
        Source of idle cycles.
    """

    def __init__(
        self,
        payloads: Iterable[Any],
        busy: float = 1.0,
        longest_idle: int = 1,
        rng: Random | None = None,
    ):
        super().__init__("payloads")
        self._payloads = payloads
        self._busy, self._longest_idle = busy, longest_idle
        self._rng = rng or Random(0)

    async def body(self) -> None:
        for payload in self._payloads:
            idle = 0
            if self._busy < 1 and self._rng.random() >= self._busy:
                idle = self._rng.randint(1, self._longest_idle)
            item = _Item(payload, idle)
            await self.start_item(item)
            await self.finish_item(item)


class _Driver(uvm_driver):
    def __init__(self, name: str, parent: StreamAgent, port: str, layout: Layout):
        super().__init__(name, parent)
        testbench: Testbench = ConfigDB().get(self, "", "TESTBENCH")
        pins = testbench.pins
        self._clocking = testbench.clocking
        self._pack = layout.pack
        self._payload, self._valid = pins.writer(f"{port}__payload"), pins.writer(f"{port}__valid")
        self._accepted = Event()
        testbench.clocking.when(pins.handshake(f"{port}__"), self._withdraw)

    def _withdraw(self) -> None:
        self._valid(0)
        self._accepted.set()

    async def run_phase(self) -> None:
        while True:
            item = await self.seq_item_port.get_next_item()
            if item.idle:
                await self._clocking.cycles(item.idle)
            self._accepted.clear()
            self._payload(self._pack(item.payload._asdict()))
            self._valid(1)
            await self._accepted.wait()
            self.seq_item_port.item_done()


class StreamAgent(uvm_agent):
    """Agent of an input stream.

    Parameters
    ----------
    name, parent, port, layout, decode
        As for ``StreamMonitor``.

    Attributes
    ----------
    sequencer : uvm_sequencer
        Runs ``StreamSequence``.
    monitor : StreamMonitor
        Publishes each payload that was accepted.
    """

    def __init__(self, name, parent, port: str, layout: Layout, decode: Callable[..., Any]):
        self._port, self._layout, self._decode = port, layout, decode
        super().__init__(name, parent)

    def build_phase(self) -> None:
        self.sequencer = uvm_sequencer("sequencer", self)
        # Before the driver, whose function withdraws the payload in the same cycle.
        self.monitor = StreamMonitor("monitor", self, self._port, self._layout, self._decode)
        self._driver = _Driver("driver", self, self._port, self._layout)

    def connect_phase(self) -> None:
        self._driver.seq_item_port.connect(self.sequencer.seq_item_export)


class SinkAgent(uvm_agent):
    """Agent of an output stream: takes payloads, with random back-pressure.

    Parameters
    ----------
    name, parent, port, layout, decode
        As for ``StreamMonitor``.
    stall : float
        Probability that nothing is taken in a cycle.

    Attributes
    ----------
    monitor : StreamMonitor
        Publishes each payload that was taken.
    """

    def __init__(
        self, name, parent, port: str, layout: Layout, decode: Callable[..., Any], stall: float
    ):
        self._port, self._layout, self._decode, self._stall = port, layout, decode, stall
        super().__init__(name, parent)

    def build_phase(self) -> None:
        testbench: Testbench = ConfigDB().get(self, "", "TESTBENCH")
        port, pins = self._port, testbench.pins
        self.monitor = StreamMonitor("monitor", self, port, self._layout, self._decode)
        self._ready = pins.writer(f"{port}__ready", 1)
        if self._stall:
            self._rng = testbench.random(port)
            testbench.clocking.when(pins.flag(f"{port}__valid"), self._stall_at_random)

    def _stall_at_random(self) -> None:
        self._ready(self._rng.random() >= self._stall)


async def play_together(
    testbench: Testbench,
    payloads: Mapping[StreamAgent, Iterable[Any]],
    cycles: int,
    busy: float = 1.0,
    longest_idle: int = 1,
) -> None:
    """Feed several streams at once, each with its own payloads, until all have been accepted.

    Parameters
    ----------
    testbench : Testbench
        Shared context.
    payloads : mapping of StreamAgent to iterable of NamedTuple
        Payloads by agent.
    cycles : int
        Cycles that all of it may take.
    busy, longest_idle
        As for ``StreamSequence``.
    """
    tasks = [
        cocotb.start_soon(
            StreamSequence(
                some, busy, longest_idle, testbench.random(f"idle cycles of {agent.get_name()}")
            ).start(agent.sequencer)
        )
        for agent, some in payloads.items()
    ]
    await testbench.clocking.until(
        lambda: all(task.done() for task in tasks), "not every payload was accepted", cycles
    )
