"""The whole system, small: launch, transactions of all SMs at once, registers, ring buffer."""

import random
from dataclasses import replace

import pytest
from amaranth.hdl import Value

from racetrap.generators.scord import SCORD
from racetrap.golden_model.events import AtomicOp, Scope
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.packets import Packet, Step, Transaction, TransactionKind
from racetrap.rtl.scord.registers import compile_registers
from racetrap.rtl.scord.system import ScordSystem
from racetrap.sim.cosim.scord.scoreboard import Scoreboard
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.planted_bugs import modules_with
from tests.support.rtl.axi_lite import axil_read, axil_write
from tests.support.rtl.axi_memory import AxiMemory
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import put, random_idle, shared, simulate

TINY = SCORD.presets["scord-tiny"].params
PROTECTED = replace(TINY, protection=True)
ADDRESS = {node.inst_name: node.address_offset for node in compile_registers(PROTECTED).registers()}
REGION = Region(data_base=0x4000, size_log2=9, metadata_base=0x1_0000_0008)
RING = 0x2_0000_0020
ENABLE, FILTER, INTERRUPT, LAUNCH, CLEAR_COUNTERS = 1, 2, 4, 0x100, 0x200
BUSY, IDLE, RING_FULL, CONFIG_ERROR = 1, 2, 4, 8


def random_transactions(params, region, count, seed):
    """Transactions of one SM; addresses few enough to race, some outside the region."""
    rng = random.Random(seed)
    lines = [(region.data_base >> 7) + n for n in range(2)] + [(region.data_base >> 7) + 9]
    for _ in range(count):
        kind = rng.choice([*TransactionKind, TransactionKind.STORE, TransactionKind.LOAD])
        warp = rng.randrange(params.warps_per_sm)
        common = {"slot": warp % params.blocks_per_sm, "warp": warp, "pc": 8 * rng.randrange(99)}
        bits = sum(1 << rng.randrange(8) for _ in range(1))
        if kind in (TransactionKind.LOAD, TransactionKind.STORE):
            yield Transaction(
                kind, strong=rng.randrange(2), line=rng.choice(lines), mask=bits | 1, **common
            )
        elif kind == TransactionKind.ATOMIC:
            lock = bits if rng.random() < 0.5 else 0
            yield Transaction(
                kind, rng.choice(list(Scope)), 1, rng.choice(list(AtomicOp)),
                line=rng.choice(lines), mask=bits, lock_mask=lock, **common,
            )  # fmt: skip
        elif kind == TransactionKind.BLOCK_START:
            yield Transaction(kind, slot=common["slot"], mask=1 << warp)
        else:
            scope = rng.choice(list(Scope)) if kind == TransactionKind.FENCE else 0
            yield Transaction(kind, scope, **common)


class Bench:
    """A system with memories at its ports."""

    def __init__(self, params=TINY, *, seed=0, capacity_log2=10, system=ScordSystem):
        self.params = params
        self.dut = shared(system, params)
        self.capacity_log2 = capacity_log2
        self.ring = AxiMemory(self.dut.m_axi_report, idle=random_idle(f"ring {seed}"))
        ports = [] if params.local_bytes else self.dut.m_axi_metadata
        self.metadata = [
            AxiMemory(port, idle=random_idle(f"{bank} {seed}")) for bank, port in enumerate(ports)
        ]
        self.steps = []

    async def read(self, ctx, name):
        data, response = await axil_read(ctx, self.dut.s_axil, ADDRESS[name])
        assert response == 0
        return data

    async def write(self, ctx, name, data):
        assert await axil_write(ctx, self.dut.s_axil, ADDRESS[name], data) == 0

    async def configure(self, ctx, region=REGION, ring=RING):
        for name, address in {
            "DATA_BASE": region.data_base,
            "METADATA_BASE": region.metadata_base,
            "REPORT_BASE": ring,
        }.items():
            await self.write(ctx, f"{name}_LO", address & 0xFFFFFFFF)
            await self.write(ctx, f"{name}_HI", address >> 32)
        await self.write(ctx, "REGION_SIZE_LOG2", region.size_log2)
        await self.write(ctx, "REPORT_CAPACITY_LOG2", self.capacity_log2)

    async def launch(self, ctx, control=ENABLE):
        await self.write(ctx, "CONTROL", control | LAUNCH)
        while (status := await self.read(ctx, "STATUS")) & BUSY:
            pass
        return status

    async def wait_idle(self, ctx):
        while not await self.read(ctx, "STATUS") & IDLE:
            pass

    def play(self, sm, transactions, scoreboard, idle):
        """A testbench that sends one SM's transactions and tells the scoreboard."""

        async def testbench(ctx):
            for transaction in transactions:
                for _ in range(idle()):
                    await ctx.tick()
                scoreboard.transaction(sm, transaction)
                word = self.params.transaction_layout.pack(transaction._asdict())
                await put(ctx, self.dut.i_transaction[sm], word)

        return testbench

    def _watch(self, bank):
        layout = self.params.step_layout

        async def testbench(ctx):
            port = self.dut.trace[bank]
            while True:
                *_, valid, word = await ctx.tick().sample(port.valid, Value.cast(port.payload))
                if valid:
                    fields = layout.unpack(word)
                    self.steps.append((bank, Step(Packet(**fields.pop("packet")), **fields)))

        return testbench

    def records(self, ring=RING):
        """Records written, in order of the ring."""
        return [
            sum(self.ring.words[address // 8 + beat] << 64 * beat for beat in range(4))
            for address, _ in self.ring.bursts
        ]

    def run(self, *testbenches, cycles=60_000):
        background = [*self.ring.testbenches(), *map(self._watch, range(self.params.banks))]
        for memory in self.metadata:
            background += memory.testbenches(read=True)
        simulate(self.dut, *testbenches, background=background, cycles=cycles)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        pytest.param("tiny", TINY, marks=pytest.mark.campaign),  # co-simulation has it
        pytest.param("banks", replace(TINY, banks=4), marks=pytest.mark.campaign),
        pytest.param("units", replace(TINY, granularity=8, ratio=1), marks=pytest.mark.campaign),
        ("local", SCORD.presets["scord-local"].params),
    ],
)
def test_agrees_with_golden_model(name, params):
    bench = Bench(params, seed=name)
    region = replace(REGION, size_log2=max(9, params.min_region_log2))
    scoreboard = Scoreboard(params, region)
    launched = []

    async def host(ctx):
        await bench.configure(ctx, region)
        assert not await bench.launch(ctx) & CONFIG_ERROR
        await bench.write(ctx, "CONTROL", ENABLE | CLEAR_COUNTERS)
        launched.append(True)
        while len(launched) <= params.sm_count:
            await ctx.tick()
        await bench.wait_idle(ctx)
        counters = {
            register.inst_name.lower(): await bench.read(ctx, register.inst_name)
            for register in compile_registers(params).registers()
            if register.address_offset >= ADDRESS["ACCESSES"]
        }
        for bank, step in bench.steps:
            scoreboard.step(bank, step)
        for record in bench.records():
            scoreboard.report(record)
        scoreboard.finish(counters, None if params.local_bytes else entry)
        assert counters["reports_written"] == await bench.read(ctx, "REPORT_HEAD") > 0
        assert counters["accesses"] > 100

    def entry(index):
        address = region.metadata_base + 8 * index
        return bench.metadata[index % params.banks].words[address // 8]

    def sender(sm):
        transactions = list(random_transactions(params, region, 150, f"{name} {sm}"))
        play = bench.play(sm, transactions, scoreboard, random_idle(f"{name} {sm}"))

        async def testbench(ctx):
            while not launched:
                await ctx.tick()
            await play(ctx)
            launched.append(True)

        return testbench

    bench.run(host, *map(sender, range(params.sm_count)))


RACE = [
    Transaction(TransactionKind.STORE, strong=1, line=REGION.data_base >> 7, mask=1, pc=0x40),
    Transaction(
        TransactionKind.STORE, strong=1, slot=1, warp=1, line=REGION.data_base >> 7, mask=1,
        pc=0x80,
    ),
]  # fmt: skip


async def send(ctx, bench, transactions, sm=0):
    for transaction in transactions:
        word = bench.params.transaction_layout.pack(transaction._asdict())
        await put(ctx, bench.dut.i_transaction[sm], word)


def test_nothing_is_checked_before_the_first_launch_or_when_disabled():
    bench = Bench()

    async def host(ctx):
        await bench.write(ctx, "CONTROL", ENABLE)
        await send(ctx, bench, RACE)
        await bench.wait_idle(ctx)
        await bench.configure(ctx)
        await bench.launch(ctx, control=0)
        await send(ctx, bench, RACE)
        await bench.wait_idle(ctx)
        assert await bench.read(ctx, "ACCESSES") == 0
        await bench.write(ctx, "CONTROL", ENABLE)
        await send(ctx, bench, RACE)
        await bench.wait_idle(ctx)
        assert await bench.read(ctx, "ACCESSES") == 2
        assert await bench.read(ctx, "RACES_MISSING_DEVICE_FENCE") == 1
        await bench.write(ctx, "CONTROL", ENABLE | CLEAR_COUNTERS)
        assert await bench.read(ctx, "ACCESSES") == 0

    bench.run(host)


def _busy_with_a_transaction_in_the_buffer(system=ScordSystem):
    """STATUS in each of the cycles behind a transaction until it has made its step."""
    bench = Bench(replace(TINY, access_buffer_depth=4), system=system)

    async def host(ctx):
        await bench.configure(ctx)
        await bench.launch(ctx)
        for delay in range(4):
            await bench.wait_idle(ctx)
            taken = len(bench.steps)
            load = Transaction(TransactionKind.LOAD, line=REGION.data_base >> 7, mask=1)
            await send(ctx, bench, [load])
            for _ in range(delay):
                await ctx.tick()
            assert not await bench.read(ctx, "STATUS") & IDLE or len(bench.steps) > taken

    bench.run(host)


def test_a_transaction_in_an_access_buffer_is_unfinished():
    _busy_with_a_transaction_in_the_buffer()


def test_planted_bug_in_idle_is_found():
    before = "(*clearing, *buffers, interleaver)"
    bug = Patch("gpu/system.py", before, "(*clearing, interleaver)")
    module = modules_with([bug.file, "scord/system.py"], bug)["scord/system.py"]
    with pytest.raises(AssertionError):
        _busy_with_a_transaction_in_the_buffer(module.ScordSystem)


def test_interrupt_filter_and_ring_full():
    bench = Bench(capacity_log2=0)

    async def host(ctx):
        await bench.configure(ctx)
        await bench.launch(ctx, ENABLE | FILTER | INTERRUPT)
        assert ctx.get(bench.dut.irq) == 0
        await send(ctx, bench, RACE)
        await bench.wait_idle(ctx)
        assert ctx.get(bench.dut.irq) == 1
        assert await bench.read(ctx, "STATUS") == IDLE | RING_FULL
        await send(ctx, bench, RACE)  # the first store races now, the second is a repeat
        await bench.wait_idle(ctx)
        assert await bench.read(ctx, "REPORTS_SUPPRESSED") == 1
        assert await bench.read(ctx, "REPORTS_DROPPED") == 1
        await bench.write(ctx, "CONTROL", ENABLE)
        assert ctx.get(bench.dut.irq) == 0
        await bench.write(ctx, "CONTROL", ENABLE | INTERRUPT)
        await bench.write(ctx, "REPORT_TAIL", 1)
        assert ctx.get(bench.dut.irq) == 0
        assert await bench.read(ctx, "STATUS") == IDLE
        assert await bench.read(ctx, "REPORT_HEAD") == 1

    bench.run(host)


def test_a_launch_waits_for_what_came_before_and_forgets_it():
    """Transactions go on all the time; each belongs to one launch entirely."""
    bench = Bench()
    done = []

    async def sender(ctx):
        for _ in range(40):
            await send(ctx, bench, RACE[:1])
            await send(ctx, bench, [Transaction(TransactionKind.FENCE, Scope.DEVICE)])
        done.append(True)

    async def host(ctx):
        await bench.configure(ctx)
        launches = 0
        while not done:
            await bench.launch(ctx)
            launches += 1
        await bench.wait_idle(ctx)
        assert launches > 2
        assert await bench.read(ctx, "FENCES") > 10
        fresh = sum(step.preliminary == 1 for _, step in bench.steps)
        assert 2 <= fresh <= launches
        # The fence counter is 0 after a launch, and one more after each fence.
        assert [step.own_dev_fence_id for _, step in bench.steps].count(1) >= 2

    bench.run(host, sender, cycles=100_000)


BAD = {
    "size too small": {"region": replace(REGION, size_log2=6)},
    "size too large": {"region": replace(REGION, data_base=0, size_log2=40)},
    "size beyond the field": {"region": replace(REGION, data_base=0, size_log2=63)},
    "base misaligned": {"region": replace(REGION, data_base=0x4100)},
    "base misaligned by one": {"region": replace(REGION, data_base=0x4001)},
    "base beyond the address": {"region": replace(REGION, data_base=1 << 40)},
    "metadata misaligned": {"region": replace(REGION, metadata_base=0x1004)},
    "metadata end": {"region": replace(REGION, metadata_base=(1 << 40) - 8)},
    "ring misaligned": {"ring": 0x10},
    "ring end": {"ring": (1 << 40) - 32},
}


@pytest.mark.parametrize("case", BAD)
def test_the_model_refuses_a_bad_region(case):
    region = BAD[case].get("region")
    if region is not None:
        with pytest.raises(ValueError, match="must"):
            region.check(TINY)


def test_bad_configurations_are_refused_and_change_nothing():
    """One after the other, between good ones."""
    bench = Bench()

    async def host(ctx):
        written = 0
        for case, changes in BAD.items():
            await bench.configure(ctx)
            assert await bench.launch(ctx) == IDLE, case
            written += REGION.entries(TINY)
            assert written <= len(bench.metadata[0].bursts), case
            written = len(bench.metadata[0].bursts)
            races = await bench.read(ctx, "RACES_MISSING_DEVICE_FENCE")
            await bench.configure(ctx, **changes)
            assert await bench.launch(ctx) == IDLE | CONFIG_ERROR, case
            assert len(bench.metadata[0].bursts) == written, case
            await send(ctx, bench, RACE)  # in force: the launch before
            await bench.wait_idle(ctx)
            assert await bench.read(ctx, "UNMONITORED") == 0, case
            assert await bench.read(ctx, "RACES_MISSING_DEVICE_FENCE") == races + 1, case
            written = len(bench.metadata[0].bursts)
        await bench.configure(ctx)
        assert await bench.launch(ctx) == IDLE

    bench.run(host)


def test_register_written_while_a_launch_drains_is_never_taken_unchecked():
    """The write meets the launch in each cycle of its draining: it is refused, or too late."""
    bench = Bench(replace(TINY, sm_count=1))
    bench.metadata = [AxiMemory(bench.dut.m_axi_metadata[0], idle=lambda: 4)]
    region = replace(REGION, size_log2=7)
    outcomes = []

    async def host(ctx):
        while outcomes.count(IDLE) < 2:
            await bench.configure(ctx, region)
            assert await bench.launch(ctx) == IDLE
            store = bench.params.transaction_layout.pack(RACE[0]._asdict())
            await put(ctx, bench.dut.i_transaction[0], store)
            await bench.write(ctx, "CONTROL", ENABLE | LAUNCH)
            for _ in outcomes:  # a cycle later each time
                await ctx.tick()
            await bench.write(ctx, "METADATA_BASE_LO", 0x1004)
            while (status := await bench.read(ctx, "STATUS")) & BUSY:
                pass
            # The base before is of 8 entries; what was written would be misaligned.
            assert {address for address, _ in bench.metadata[0].bursts} == {
                region.metadata_base + 8 * index for index in range(8)
            }
            outcomes.append(status)

    bench.run(host)
    assert outcomes == sorted(outcomes, reverse=True)
    assert outcomes.count(IDLE | CONFIG_ERROR) > 3


@pytest.mark.parametrize("ends", ["region", "metadata", "ring"])
def test_configuration_may_end_with_the_address_space(ends):
    bench = Bench(capacity_log2=1)
    region = REGION
    top = 1 << TINY.address_bits
    if ends == "region":
        region = replace(REGION, data_base=top - (1 << 9))
    if ends == "metadata":
        region = replace(REGION, metadata_base=top - 8 * REGION.entries(TINY))
    region.check(TINY)

    async def host(ctx):
        await bench.configure(ctx, region, ring=top - 64 if ends == "ring" else RING)
        assert await bench.launch(ctx) == IDLE

    bench.run(host)


@pytest.mark.parametrize(
    "params",
    [
        replace(TINY, banks=2),
        pytest.param(SCORD.presets["scord-local"].params, marks=pytest.mark.campaign),
    ],
)
def test_no_path_from_valid_to_ready(params):
    assert valid_to_ready_paths(ScordSystem(params)) == []
