"""Reactive agent: the memory behind an AXI4 manager port of the device.

Deliberately adversarial, within the rules: answers to reads with different ids may be reordered; a
read may see memory at the time of its address or of its data; a write may take effect when it is
taken or only when it is answered.  This exposes a device that does not wait for a write's response
before it reads again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from pyuvm import ConfigDB, uvm_agent, uvm_analysis_port

from racetrap.rtl.common.axi import AxiResponse
from racetrap.tb.axi_rules import AxiViolation, ChannelWatch, check_address
from racetrap.tb.memory_knobs import MemoryKnobs, ReadRecord
from racetrap.tb.pins import Pins
from racetrap.tb.testbench import Testbench

_BAD_RESPONSES = (AxiResponse.SLVERR, AxiResponse.DECERR)


@dataclass
class _Write:
    address: int
    id: int
    beats: list[int] = field(default_factory=list)


class _Channel:
    """A channel that the agent drives: valid and payload, written only when they change."""

    def __init__(self, pins: Pins, name: str, fields: tuple[str, ...]):
        self.handshake = pins.handshake(name)
        self._valid = pins.writer(f"{name}valid")
        self._fields = [pins.writer(f"{name}{field}") for field in fields]
        self.busy = False

    def offer(self, *values: int) -> None:
        for write, value in zip(self._fields, values, strict=True):
            write(value)
        self._valid(1)
        self.busy = True

    def taken(self) -> None:
        self._valid(0)
        self.busy = False


class AxiMemory(uvm_agent):
    """Memory behind ``port``.

    Parameters
    ----------
    name, parent
        As for every component.
    port : str
        Port of the device, such as ``m_axi_metadata__0``.
    beats : int
        Transfers of each write burst; reads are single.
    knobs : MemoryKnobs
        Behaviour; may be replaced at any time.
    beat_bytes : int
        Bytes of a transfer, and of a word.

    Attributes
    ----------
    words : dict of int to int
        Words by byte address; an absent one reads as ``preset``.
    preset : int or None
        Value of words that were never written; None: random values.
    reads : uvm_analysis_port
        Publishes each read's ``ReadRecord`` when its address is taken.
    read_errors, write_errors : int
        Error responses taken by the device.
    hit : callable
        Receiver of names of coverage bins.
    """

    def __init__(
        self, name, parent, port: str, beats: int, knobs: MemoryKnobs, beat_bytes: int = 8
    ):
        self._port = port
        self._beats, self._beat_bytes = beats, beat_bytes
        self.knobs = knobs
        super().__init__(name, parent)

    def build_phase(self) -> None:
        testbench: Testbench = ConfigDB().get(self, "", "TESTBENCH")
        pins, port = testbench.pins, f"{self._port}__"
        self.words: dict[int, int] = {}
        self.preset: int | None = None
        self.reads = uvm_analysis_port("reads", self)
        self.read_errors = self.write_errors = 0
        self.hit: Callable[[str], Any] = lambda name: None
        self._rng: Random = testbench.random(self._port)
        self._clocking = testbench.clocking
        self._aw, self._w = ChannelWatch(pins, f"{port}aw"), ChannelWatch(pins, f"{port}w")
        self._b = _Channel(pins, f"{port}b", ("id", "resp"))
        self._has_reads = pins.has(f"{port}arvalid")
        channels = ["aw", "w"]
        if self._has_reads:
            self._ar = ChannelWatch(pins, f"{port}ar")
            self._r = _Channel(pins, f"{port}r", ("id", "data", "resp", "last"))
            channels.append("ar")
        self._ready = [(pins.writer(f"{port}{channel}ready"), channel) for channel in channels]
        self._valid = {channel: pins.flag(f"{port}{channel}valid") for channel in channels}
        self._open: list[ReadRecord] = []
        self._reading: ReadRecord | None = None
        self._addresses: deque[_Write] = deque()
        self._data: deque[Mapping[str, int]] = deque()
        self._answers: deque[tuple[_Write, int, bool]] = deque()
        testbench.clocking.each(self._look)

    @property
    def is_idle(self) -> bool:
        """Whether every request has been answered."""
        return not (self._open or self._reading or self._addresses or self._data or self._answers)

    def read_word(self, address: int) -> int:
        """A word as the device would read it."""
        return self.words.get(address) or self._fill(address)

    def _fill(self, address: int) -> int:
        """Value of a word that was never written; random values are reproducible."""
        if address not in self.words:
            junk = Random(address).getrandbits(8 * self._beat_bytes)
            self.words[address] = junk if self.preset is None else self.preset
        return self.words[address]

    def _look(self, flags: int) -> None:
        knobs, draw = self.knobs, self._rng.random
        if self._has_reads:
            if request := self._ar.look(flags):
                self._take_read(request)
            self._answer_read(flags)
        if request := self._aw.look(flags):
            check_address(f"{self._port}__aw", request, self._beats, self._beat_bytes)
            self._addresses.append(_Write(request["addr"], request["id"]))
        if beat := self._w.look(flags):
            self._data.append(beat)
        if self._data:
            self._take_beat()
        self._answer_write(flags)
        for write, channel in self._ready:
            ready = knobs.ready >= 1 or draw() < knobs.ready
            write(int(ready))
            if not ready and flags & self._valid[channel]:
                self.hit(f"axi.{channel}.stalled")

    # Reads ------------------------------------------------------------------------------

    def _take_read(self, request: Mapping[str, int]) -> None:
        check_address(f"{self._port}__ar", request, 1, self._beat_bytes)
        id_, address = request["id"], request["addr"]
        if any(other.id == id_ for other in [*self._open, *filter(None, [self._reading])]):
            raise AxiViolation(f"{self._port} read id {id_} must not be in use already")
        rng, knobs = self._rng, self.knobs
        record = ReadRecord(
            id_, address, self._clocking.cycle + knobs.latency + rng.randint(0, knobs.jitter),
            error=rng.random() < knobs.read_errors,
            early_data=self.read_word(address) if rng.random() < 0.5 else None,
        )  # fmt: skip
        self._open.append(record)
        self.reads.write(record)

    def _answer_read(self, flags: int) -> None:
        cycle, channel = self._clocking.cycle, self._r
        if self._reading and flags & channel.handshake == channel.handshake:
            channel.taken()
            self._reading.done_cycle = cycle
            self.read_errors += self._reading.error
            self._reading = None
        elif channel.busy:
            self.hit("axi.r.stalled")
        if channel.busy or not self._open:
            return
        due = [record for record in self._open if record.due <= cycle]
        if not due:
            return
        record = self._rng.choice(due) if self.knobs.jitter else due[0]
        if record is not self._open[0]:
            self.hit("axi.r.reordered")
        self._open.remove(record)
        self._reading = record
        data, response = record.early_data, AxiResponse.OKAY
        if data is None:
            data = self.read_word(record.address)
        if record.error:
            data, response = (
                self._rng.getrandbits(8 * self._beat_bytes),
                self._rng.choice(_BAD_RESPONSES),
            )
            self.hit("axi.r.error")
        channel.offer(record.id, data, int(response), 1)

    # Writes -----------------------------------------------------------------------------

    def _take_beat(self) -> None:
        """Pair data with addresses; each channel may run ahead of the other."""
        if not self._addresses:
            return
        write = self._addresses[0]
        beat = self._data.popleft()
        if beat["strb"] != (1 << self._beat_bytes) - 1:
            raise AxiViolation(f"{self._port} wstrb must be all ones, not {beat['strb']:#x}")
        write.beats.append(beat["data"])
        if beat["last"] != (len(write.beats) == self._beats):
            raise AxiViolation(f"{self._port} wlast must mark beat {self._beats} and no other")
        if not beat["last"]:
            return
        self._addresses.popleft()
        rng, knobs = self._rng, self.knobs
        # Writes with one id take effect in order.
        late = rng.random() < 0.5 or any(waiting for _, _, waiting in self._answers)
        if not late:
            self._apply(write)
        due = self._clocking.cycle + knobs.latency + rng.randint(0, knobs.jitter)
        self._answers.append((write, due, late))

    def _apply(self, write: _Write) -> None:
        for number, data in enumerate(write.beats):
            self.words[write.address + self._beat_bytes * number] = data

    def _answer_write(self, flags: int) -> None:
        channel = self._b
        if channel.busy:
            if flags & channel.handshake != channel.handshake:
                self.hit("axi.b.stalled")
                return
            channel.taken()
        if self._answers and self._answers[0][1] <= self._clocking.cycle:
            write, _, late = self._answers.popleft()
            if late:
                self._apply(write)
            error = self._rng.random() < self.knobs.write_errors
            self.write_errors += error
            if error:
                self.hit("axi.b.error")
            channel.offer(write.id, int(self._rng.choice(_BAD_RESPONSES) if error else 0))
