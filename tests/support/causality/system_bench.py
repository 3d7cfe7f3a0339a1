"""Runs the whole system of causality beside the golden one, one event after the other."""

from __future__ import annotations

from collections.abc import Iterable

from amaranth.hdl import Value

from racetrap.golden_model.causality.causality import Causality
from racetrap.golden_model.causality.detector_bank import Step
from racetrap.golden_model.causality.packets import Packet
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.events import Event, EventKind
from racetrap.golden_model.gpu.region import Region
from racetrap.rtl.causality.registers import compile_registers
from racetrap.rtl.causality.system import CausalitySystem
from racetrap.sim.cosim.causality.scoreboard import Scoreboard
from tests.support.rtl.axi_lite import axil_read, axil_write
from tests.support.rtl.axi_memory import AxiMemory
from tests.support.rtl.metadata_memory import MemoryKnobs, MetadataMemory
from tests.support.rtl.streams import put, random_idle, shared, simulate

_ADDRESS = {
    node.inst_name: node.address_offset for node in compile_registers(CausalityParams()).registers()
}
_RING = 0x8000_0000
_ENABLE, _LAUNCH = 1, 0x100
_SLOW = MemoryKnobs((0, 5), (0, 5), ready=0.8)
_BUSY, _IDLE, _CONFIG_ERROR = 1, 2, 8


class SystemBench:
    """A system with memories at its ports, and the golden model.

    Attributes
    ----------
    steps : list of list of int
        Steps of each bank, as on its trace port.
    seen : list of (int, int, int, int)
        Cycle, bank or -1, and word of each step and of what the collector's trace port says.
    counters : dict of str to int
        Counters at the end.
    """

    def __init__(
        self, params: CausalityParams, region: Region, seed: str,
        system: type = CausalitySystem, knobs: MemoryKnobs = _SLOW,
    ) -> None:  # fmt: skip
        self.params, self.region = params, region
        self.dut = shared(system, params)
        self.golden = Causality(params, region)
        self.ring = AxiMemory(self.dut.m_axi_report, idle=random_idle(f"{seed} ring"))
        self.memories = [
            MetadataMemory(port, knobs, f"{seed} {bank}")
            for bank, port in enumerate(self.dut.m_axi_metadata)
        ]
        self.steps: list[list[int]] = [[] for _ in range(params.banks)]
        self.seen: list[tuple[int, int, int]] = []
        self.counters: dict[str, int] = {}
        self._is_launched = False

    def run(self, *testbenches, cycles: int = 60_000) -> None:
        """Run testbenches with the memories and monitors."""
        background = [*self.ring.testbenches(), *map(self._memory, self.memories)]
        background += [self._watch(bank) for bank in range(-1, self.params.banks)]
        simulate(self.dut, *testbenches, background=background, cycles=cycles)

    def _memory(self, memory):
        async def testbench(ctx):
            while True:
                memory.drive(ctx)
                _, _, *values = await ctx.tick().sample(*memory.signals)
                memory.tick(values)

        return testbench

    def _watch(self, bank):
        async def testbench(ctx):
            port, cycle = self.dut.trace_collector if bank < 0 else self.dut.trace[bank], 0
            while True:
                *_, valid, word = await ctx.tick().sample(port.valid, Value.cast(port.payload))
                cycle += 1
                if valid:
                    self.seen.append((cycle, bank, word))
                    if bank >= 0:
                        self.steps[bank].append(word)

        return testbench

    async def read(self, ctx, name: str) -> int:
        """Value of a register."""
        data, response = await axil_read(ctx, self.dut.s_axil, _ADDRESS[name])
        assert response == 0
        return data

    async def write(self, ctx, name: str, data: int) -> None:
        """Write a register."""
        assert await axil_write(ctx, self.dut.s_axil, _ADDRESS[name], data) == 0

    async def launch(self, ctx) -> None:
        """Write the configuration, and launch a kernel."""
        region = self.region
        for name, address in (
            ("DATA_BASE", region.data_base), ("METADATA_BASE", region.metadata_base),
            ("REPORT_BASE", _RING),
        ):  # fmt: skip
            await self.write(ctx, f"{name}_LO", address)
        await self.write(ctx, "REGION_SIZE_LOG2", region.size_log2)
        await self.write(ctx, "REPORT_CAPACITY_LOG2", 10)
        await self.write(ctx, "CONTROL", _ENABLE | _LAUNCH)
        while (status := await self.read(ctx, "STATUS")) & _BUSY:
            pass
        assert not status & _CONFIG_ERROR
        self.golden.launch()
        self._is_launched = True

    async def launched(self, ctx) -> None:
        """Wait until a kernel is launched."""
        while not self._is_launched:
            await ctx.tick()

    async def until_idle(self, ctx) -> None:
        """Wait until all that was sent is done."""
        while not await self.read(ctx, "STATUS") & _IDLE:
            pass

    async def send(self, ctx, sm: int, transaction) -> None:
        """Hand a transaction to an SM's tracker."""
        word = self.params.transaction_layout.pack(transaction._asdict())
        await put(ctx, self.dut.i_transaction[sm], word)

    async def play(self, ctx, events: Iterable[Event]) -> None:
        """Send events one after the other, to the golden model as well, and compare all steps."""
        layout, due = self.params.step_layout, [[] for _ in self.steps]
        for event in events:
            if event.kind == EventKind.KERNEL_BEGIN:
                continue
            for transaction in self.golden.transactions(event):
                await self.send(ctx, event.sm, transaction)
                await self.until_idle(ctx)
                for step in self.golden.transact(event.sm, transaction):
                    due[step.packet.word % len(due)].append(step)
                    entries = {
                        name: getattr(step, name).pack(self.params) for name in ("before", "after")
                    }
                    values = step._asdict() | entries | {"packet": step.packet._asdict()}
                    got = self.steps[step.packet.word % len(due)][-1]
                    assert layout.unpack(got) == layout.unpack(layout.pack(values)), event
        assert [len(steps) for steps in self.steps] == [len(steps) for steps in due]

    async def count(self, ctx) -> None:
        """Read all counters."""
        names = [
            name for name, address in _ADDRESS.items() if address >= _ADDRESS["ACCESSES"]
        ]  # fmt: skip
        self.counters = {name.lower(): await self.read(ctx, name) for name in names}

    async def compare(self, ctx, transactions) -> None:
        """Let the golden model follow the hardware's order; steps, reports and counters are its.

        ``transactions`` are those of each SM.
        """
        await self.count(ctx)
        board, params = Scoreboard(self.params, self.region), self.params
        for sm, of_sm in enumerate(transactions):
            for transaction in of_sm:
                board.transaction(sm, transaction)
        # What the collector says in a cycle comes behind the steps of that cycle.
        for _, bank, word in sorted(self.seen, key=lambda seen: (seen[0], seen[1] < 0)):
            if bank < 0:
                board.told(**params.collector_event_layout.unpack(word))
            else:
                values = params.step_layout.unpack(word)
                board.step(bank, Step(**values | {"packet": Packet(**values["packet"])}))
        for record in self.records():
            board.report(record)
        board.finish(self.counters)

    def records(self) -> list[int]:
        """Records in the ring."""
        return [
            sum(self.ring.words[address // 8 + beat] << 64 * beat for beat in range(4))
            for address, _ in self.ring.bursts
        ]

    async def check(self, ctx) -> None:
        """Counters and reports are those of the golden model."""
        await self.count(ctx)
        golden = self.golden.counters | {"reports_written": self.golden.race_count}
        ignored = ("stall_cycles", "reports_suppressed")
        assert {
            name: count for name, count in self.counters.items() if count and name not in ignored
        } == {name: count for name, count in golden.items() if count}
        assert self.records() == [report.record() for report in self.golden.races]
