"""cocotb test of a board's device at its UART pins: micro-benchmarks in, race reports out.

Plan: ``benchmarks``, names of the micro-benchmarks; ``core``, whether the device has no more
than a tracker and a bank.  For each there is a note with its verdict.
The UART at the other end of the pins is cocotbext-uart's, not ours.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from cocotbext.uart import UartSink, UartSource

from racetrap.fpga.boards.core_top import core_region
from racetrap.golden_model.link.configuration import configuration_hash
from racetrap.golden_model.link.frames import (
    PROTOCOL_VERSION,
    REPLY,
    Counters,
    Decoder,
    Frame,
    Hello,
    Kind,
    Status,
    encode,
)
from racetrap.golden_model.scord.packets import Transaction
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.scord import Scord
from racetrap.rtl.scord.report_writer import RECORD_BYTES
from racetrap.sim.cocotb_run import NOTES, PLAN
from racetrap.sim.gpu.program import program_region
from racetrap.sim.gpu.random_events import transactions_of
from racetrap.sim.mismatch import Mismatch
from racetrap.sim.scord.suite import SuiteRun, suite_runs

__all__ = ["play_at_the_pins"]

_CLOCK_NS = 10
_RESET_CYCLES = 4
_RING_LOG2 = 5
_ENABLE, _LAUNCH, _CLEAR_COUNTERS = 1 << 0, 1 << 8, 1 << 9
_BUSY, _IDLE, _CONFIG_ERROR = 1 << 0, 1 << 1, 1 << 3
_POLLS = 100


class _Host:
    """The least host that there can be: a frame out, its reply back, in order."""

    def __init__(self, dut: Any, divisor: int):
        baud = 1_000_000_000 // (_CLOCK_NS * divisor)
        self._source = UartSource(dut.i_rx, baud=baud)
        self._sink = UartSink(dut.o_tx, baud=baud)
        self._decoder = Decoder()
        self._sequence = 0

    async def ask(self, kind: Kind, payload: bytes = b"") -> bytes:
        """Payload of the reply, which must say OK, after its status."""
        self._sequence = (self._sequence + 1) % 256
        await self._source.write(encode(Frame(kind, self._sequence, payload)))
        frames: list[Frame] = []
        while not frames:
            frames = self._decoder.feed(bytes(await self._sink.read()))
        (reply,) = frames
        seen = (reply.kind, reply.sequence, reply.payload[0])
        if seen != (kind | REPLY, self._sequence, Status.OK):
            raise Mismatch(f"Reply to {kind.name} {self._sequence} must be OK, not {reply}")
        return reply.payload[1:]


class _Device:
    """The device as software sees it."""

    region = program_region()

    def __init__(self, host: _Host, params: ScordParams, registers: dict[str, int]):
        self._host = host
        self._params = params
        self._registers = registers
        self._bytes = -(-params.transaction_layout.width // 8)
        self._head = self._tail = 0

    async def read(self, name: str) -> int:
        address = self._registers[name].to_bytes(2, "little")
        return int.from_bytes(await self._host.ask(Kind.READ, address), "little")

    async def write(self, name: str, value: int) -> None:
        address = self._registers[name].to_bytes(2, "little")
        await self._host.ask(Kind.WRITE, address + value.to_bytes(4, "little"))

    async def status(self, mask: int, value: int) -> int:
        """Poll the status until its bits ``mask`` are ``value``."""
        for _ in range(_POLLS):
            status = await self.read("STATUS")
            if status & mask == value:
                return status
        raise Mismatch(f"Status bits {mask:#x} must become {value:#x} in {_POLLS} polls")

    async def launch(self) -> None:
        region = self.region
        for name, value in (
            ("DATA_BASE_LO", region.data_base), ("DATA_BASE_HI", region.data_base >> 32),
            ("METADATA_BASE_LO", region.metadata_base), ("REGION_SIZE_LOG2", region.size_log2),
            ("REPORT_CAPACITY_LOG2", _RING_LOG2), ("CONTROL", _ENABLE | _CLEAR_COUNTERS),
            ("CONTROL", _ENABLE | _LAUNCH),
        ):  # fmt: skip
            await self.write(name, value)
        if await self.status(_BUSY, 0) & _CONFIG_ERROR:
            raise Mismatch("Launch must be taken, not refused")

    async def push(self, sm: int, transactions: list[Transaction], credits: int) -> None:
        """Push an SM's transactions, as many at once as its queue holds."""
        layout = self._params.transaction_layout
        while transactions:
            part, transactions = transactions[:credits], transactions[credits:]
            records = b"".join(
                layout.pack(item._asdict()).to_bytes(self._bytes, "little") for item in part
            )
            await self._host.ask(Kind.PUSH, bytes([sm]) + records)

    async def reports(self) -> list[int]:
        """Pull what there is, and tell the ring so."""
        records: list[int] = []
        more = True
        while more:
            reply = await self._host.ask(Kind.PULL, bytes([0, 255]))
            more = bool(reply[0])
            records += [
                int.from_bytes(reply[start : start + RECORD_BYTES], "little")
                for start in range(1, len(reply), RECORD_BYTES)
            ]
        return records

    def numbered(self, races: list[RaceReport]) -> list[int]:
        """Records of a kernel's races: their numbers run on over kernels."""
        first, self._head = self._head, self._head + len(races)
        return [replace(race, sequence=first + n).record() for n, race in enumerate(races)]

    async def finish(self) -> list[int]:
        """Reports until the device is idle, checked against its own counts."""
        await self.status(_IDLE, _IDLE)
        records = await self.reports()
        self._tail += len(records)
        await self.write("REPORT_TAIL", self._tail)
        if await self.read("REPORTS_WRITTEN") != len(records):
            raise Mismatch(f"Reports written must be the {len(records)} that were pulled")
        if await self.read("REPORTS_DROPPED"):
            raise Mismatch("Reports dropped must be none")
        return records


class _Core(_Device):
    """A core as software sees it: the region is fixed, reports carry no number."""

    def __init__(self, host: _Host, params: ScordParams, registers: dict[str, int]):
        super().__init__(host, params, registers)
        self.region = core_region(params)
        self._early: list[int] = []

    async def launch(self) -> None:
        await self.write("CONTROL", _ENABLE | _LAUNCH)
        await self.status(_BUSY, 0)

    async def push(self, sm: int, transactions: list[Transaction], credits: int) -> None:
        """One at a time, and its reports at once: the bank's queue is all there is for them."""
        for transaction in transactions:
            await super().push(sm, [transaction], credits)
            self._early += await self.reports()

    def numbered(self, races: list[RaceReport]) -> list[int]:
        return [replace(race, sequence=0).record() for race in races]

    async def finish(self) -> list[int]:
        """Reports keep the core from being idle: pull until it is."""
        records, self._early = self._early + await self.reports(), []
        while not await self.read("STATUS") & _IDLE:
            records += await self.reports()
        return records


async def _play(device: _Device, run: SuiteRun, params: ScordParams) -> dict[str, Any]:
    """One micro-benchmark; gives the note on it."""
    golden = Scord(params, device.region)
    await device.launch()
    events = run.events()
    for event in events:
        golden.run(event)
    # In the global order: an SM's transactions go together as far as no other's lie between.
    for sm, items in groupby(transactions_of(events, params), key=lambda item: item[0]):
        await device.push(sm, [transaction for _, transaction in items], credits=2)
    records = await device.finish()
    expected = device.numbered(golden.races)
    if records != expected:
        raise Mismatch(f"Records of {run.benchmark.name} must be {expected}, not {records}")
    is_right = run.benchmark.is_right([RaceReport.from_record(record) for record in records])
    return {"run": run.benchmark.name, "is_right": is_right, "reports": len(records)}


def _runs(params: ScordParams, names: list[str]) -> Iterator[SuiteRun]:
    """One run of each micro-benchmark; placements over several SMs where there is one."""
    runs = {run.benchmark.name: run for run in suite_runs(params, 0, 1)}
    return (runs[name] for name in names)


async def _start(dut: Any) -> None:
    dut.i_rx.value = 1
    dut.rst.value = 1
    Clock(dut.clk, _CLOCK_NS, "ns").start()
    await ClockCycles(dut.clk, _RESET_CYCLES)
    dut.rst.value = 0
    await ClockCycles(dut.clk, _RESET_CYCLES)


@cocotb.test()
async def play_at_the_pins(dut):
    path = Path(os.environ[PLAN])
    plan = json.loads(path.read_text(encoding="utf-8"))
    params = ScordParams(**plan["params"])
    await _start(dut)
    host = _Host(dut, plan["divisor"])
    hello = Hello.from_payload(
        bytes([Status.OK]) + await host.ask(Kind.HELLO, bytes([PROTOCOL_VERSION]))
    )
    if hello.configuration != configuration_hash(params):
        raise Mismatch(f"Device must have the configuration of the plan, not {hello}")
    device = (_Core if plan["core"] else _Device)(host, params, plan["registers"])
    reports = 0
    for run in _runs(params, plan["benchmarks"]):
        note = await _play(device, run, params)
        reports += note["reports"]
        with path.with_name(NOTES).open("a", encoding="utf-8") as file:
            file.write(json.dumps(note) + "\n")
    counters = Counters.from_payload(bytes([Status.OK]) + await host.ask(Kind.COUNTERS))
    if any(counters[1:]):
        raise Mismatch(f"A good line must lose nothing, not {counters}")
    lights = int(dut.o_leds.value)
    if lights & 0b1001 != 0b0001 or bool(lights & 0b0100) != bool(reports):
        raise Mismatch(f"Lights must say link up, no error and {reports} races, not {lights:#06b}")
