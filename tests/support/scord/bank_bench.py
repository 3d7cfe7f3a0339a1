"""Runs a detector bank beside the golden one, over a memory with knobs."""

from __future__ import annotations

import random
from typing import Any

from amaranth.hdl import Value

from racetrap.golden_model.gpu.region import bank_of_entry
from racetrap.golden_model.gpu.valid_table import is_written
from racetrap.golden_model.scord.detector_bank import DetectorBank as GoldenBank
from racetrap.golden_model.scord.metadata import UNINITIALISED_ENTRY
from racetrap.golden_model.scord.packets import RaceKind, TableRow
from racetrap.golden_model.scord.report import RaceReport
from racetrap.rtl.scord.detector_bank import DetectorBank
from tests.support.rtl.metadata_memory import MemoryKnobs, MetadataMemory
from tests.support.rtl.streams import shared, simulate
from tests.support.scord.bank_packets import a_region, set_region


class BankBench:
    """A detector bank with its memory; everything that leaves it is kept with its cycle.

    ``put_ready`` and ``report_ready`` are the probabilities that a packet is offered, and a
    report taken, in a cycle.
    """

    def __init__(
        self, params, region=None, *, bank=0, knobs=None, seed="0", put=1.0, report_ready=1.0
    ):
        self.params = params
        self.region = region or a_region(params)
        self.bank = bank
        self.dut, self.model = self._parts()
        self.memory = MetadataMemory(self.dut.m_axi, knobs or MemoryKnobs(), f"{seed} memory")
        self.cycle = 0
        self.taken: list[int] = []
        self.traced: list[tuple[int, int]] = []
        self.reports: list[Any] = []
        self.counts = dict.fromkeys(self.dut.o_count[0].shape().members, 0)
        self.answers: list[int] = []
        self._put = put
        self.report_ready = report_ready
        self._rng = random.Random(f"{seed} bench")

    def _parts(self):
        """Hardware and golden model of the bank."""
        return shared(DetectorBank, self.params), GoldenBank(self.params, self.region, self.bank)

    def _monitors(self):
        """What else looks at the bank."""
        return []

    def _report_of(self, record: int):
        """What the bank reports."""
        return RaceReport.from_record(record)

    # Running ----------------------------------------------------------------------------

    def simulate(self, testbench, cycles=100_000):
        """Run ``testbench(ctx)`` with the region written."""

        async def with_region(ctx):
            ctx.set(self.dut.i_port, self.bank)
            set_region(ctx, self.dut.i_region, self.params, self.region)
            await testbench(ctx)

        simulate(
            self.dut, with_region, background=[self._environment, *self._monitors()], cycles=cycles
        )

    async def clear(self, ctx) -> int:
        """Launch a kernel; the cycles it took."""
        ctx.set(self.dut.i_clear, 1)
        await ctx.tick()
        ctx.set(self.dut.i_clear, 0)
        cycles = 0
        while ctx.get(self.dut.o_busy):
            assert not ctx.get(self.dut.o_idle)
            assert not ctx.get(self.dut.i_packet.ready)
            await ctx.tick()
            cycles += 1
        self.model.clear()
        return cycles

    async def play(self, ctx, packets) -> None:
        """Put packets in."""
        stream, layout = self.dut.i_packet, self.params.packet_layout
        for packet in packets:
            while self._put < 1 and self._rng.random() >= self._put:
                await ctx.tick()
            ctx.set(Value.cast(stream.payload), layout.pack(packet._asdict()))
            ctx.set(stream.valid, 1)
            taken = False
            while not taken:
                *_, taken = await ctx.tick().sample(stream.ready)
            ctx.set(stream.valid, 0)

    async def until_idle(self, ctx) -> None:
        while not ctx.get(self.dut.o_idle):
            await ctx.tick()
        await ctx.tick()  # the environment sees a cycle only after its clock edge

    async def _environment(self, ctx) -> None:
        dut, memory = self.dut, self.memory
        signals = [
            dut.trace[0].valid,
            Value.cast(dut.trace[0].payload),
            dut.o_report[0].valid,
            dut.o_report[0].ready,
            Value.cast(dut.o_report[0].payload),
            Value.cast(dut.o_count[0]),
            dut.i_packet.valid,
            dut.i_packet.ready,
            dut.m_axi.rvalid,
            dut.o_busy,
            dut.o_idle,
        ]
        while True:
            is_ready = self.report_ready >= 1 or self._rng.random() < self.report_ready
            ctx.set(dut.o_report[0].ready, is_ready)
            memory.drive(ctx)
            _, _, *values = await ctx.tick().sample(*signals, *memory.signals)
            memory.tick(values[len(signals) :])
            step_valid, step, report_valid, report_ready, report, count = values[:6]
            put_valid, put_ready, answered, busy, idle = values[6 : len(signals)]
            assert not (busy and idle), f"cycle {self.cycle}"
            if step_valid:
                self.traced.append((self.cycle, step))
            if report_valid and report_ready:
                self.reports.append(self._report_of(report))
            if put_valid and put_ready:
                self.taken.append(self.cycle)
            if answered:
                self.answers.append(self.cycle)
            for bit, name in enumerate(self.counts):
                self.counts[name] += count >> bit & 1
            self.cycle += 1

    # Checking ---------------------------------------------------------------------------

    def check(self, packets) -> list:
        """Everything that left the bank is what the golden bank says; the golden steps."""
        layout = self.params.step_layout
        got = [layout.unpack(step) for _, step in self.traced]
        assert len(got) == len(packets)
        steps = []
        for number, (packet, one) in enumerate(zip(packets, got, strict=True)):
            step = self.model.step(packet, read_error=bool(one["read_error"]))
            expected = step._asdict() | {"packet": packet._asdict()}
            assert one == expected, f"step {number}"
            steps.append(step)
        self._check_read_errors(steps)
        self._check_counts(steps)
        self._check_memory()
        races = [RaceReport.from_step(self.params, each, self.bank) for each in steps if each.race]
        dropped = self.counts["reports_dropped"]
        assert len(self.reports) == len(races) - dropped
        if dropped == 0:
            assert self.reports == races
        return steps

    def _index_of(self, step) -> int:
        address = step.packet.word * 4
        return self.region.locate(self.params, address)[0]

    def _check_read_errors(self, steps) -> None:
        """An error is told of exactly the packet whose slot is the read's id."""
        failed = [(read.id, read.address) for read in self.memory.reads if read.is_error]
        assert failed == [
            (number % self.params.outstanding, self.region.metadata_base + 8 * self._index_of(step))
            for number, step in enumerate(steps)
            if step.read_error
        ]

    def _check_counts(self, steps) -> None:
        counts = dict(self.counts)
        counts.pop("stall_cycles")
        counts.pop("reports_dropped")
        errors = sum(write.is_error for write in self.memory.writes)
        assert counts.pop("metadata_write_errors") == errors
        assert counts == self.model.counters
        assert counts["races_missing_lock"] == sum(
            step.race == RaceKind.MISSING_LOCK for step in steps
        )

    def _check_memory(self) -> None:
        """Entries in memory are the golden ones, all others of the bank are uninitialised.

        Those whose bit in a table of valid segments is 0 have been neither read nor written.
        """
        base, params = self.region.metadata_base, self.params
        entries = [
            index
            for index in self.region.indices(params)
            if bank_of_entry(params, index) == self.bank
            and is_written(params, self.region, index, self.model.entries)
        ]
        assert self.memory.unwritten_reads == []
        expected = {
            base + params.entry_bytes * index: self._entry_in_memory(index) for index in entries
        }
        assert self.memory.words == expected

    def _entry_in_memory(self, index: int) -> int:
        return self.model.entries.get(index, UNINITIALISED_ENTRY)

    def run(self, packets, *, cycles=100_000) -> list:
        """Launch, play ``packets`` until idle, check; the golden steps."""

        async def testbench(ctx):
            await self.clear(ctx)
            await self.play(ctx, packets)
            await self.until_idle(ctx)

        self.simulate(testbench, cycles)
        return self.check(packets)

    @property
    def unchanged(self) -> int:
        """Accesses that left their entry as it was, so that nothing was written for them."""
        steps = [self.params.step_layout.unpack(step) for _, step in self.traced]
        return sum(
            step["before"] == step["after"]
            and step["row"] not in (TableRow.FENCE, TableRow.UNMONITORED)
            for step in steps
        )
