"""Local memory: entries of a bank, rates, and the bank on top of it."""

import random

import pytest
from amaranth.hdl import Module, Value
from amaranth.lib import wiring

from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.detector_bank import DetectorBank as GoldenBank
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.gpu.local_memory import LocalMemory
from racetrap.rtl.scord.detector_bank import DetectorBank
from tests.support.planted_bugs import module_with
from tests.support.rtl.streams import pulse, put_all, simulate
from tests.support.scord.bank_packets import random_packets


async def write(ctx, axi, address, data):
    """One write; the cycles until its response."""
    for name, value in (("awaddr", address), ("wdata", data), ("wstrb", 0xFF), ("wlast", 1)):
        ctx.set(getattr(axi, name), value)
    ctx.set(axi.bready, 1)
    ctx.set(axi.awvalid, 1)
    ctx.set(axi.wvalid, 1)
    address_taken = data_taken = False
    while not (address_taken and data_taken):
        *_, aw, w = await ctx.tick().sample(axi.awready, axi.wready)
        if aw:
            address_taken = True
            ctx.set(axi.awvalid, 0)
        if w:
            data_taken = True
            ctx.set(axi.wvalid, 0)
    cycles = 1
    answered = ctx.get(axi.bvalid)
    while not answered:
        await ctx.tick()
        answered = ctx.get(axi.bvalid)
        cycles += 1
    assert ctx.get(axi.bresp) == 0
    await ctx.tick()
    return cycles


@pytest.mark.parametrize(
    ("settings", "base"),
    [({}, 0), ({}, 0x1238), ({"banks": 4}, 0x40), ({"banks": 4}, 0x1238)],
    ids=str,
)
def test_every_entry_has_its_place(settings, base):
    """Also where the base of the metadata is not a multiple of the memory's size."""
    params = ScordParams(local_bytes=512, outstanding=8, **settings)
    count = 64 // params.banks
    bank = params.banks - 1
    addresses = [base + 8 * (bank + params.banks * number) for number in range(count)]
    dut = LocalMemory(params)
    axi = dut.s_axi
    got = []

    async def testbench(ctx):
        for number, address in enumerate(addresses):
            assert await write(ctx, axi, address, number << 40 | 5) <= 2
        # Reads back to back: one a cycle, each answered in the next.
        ctx.set(axi.rready, 1)
        for number, address in enumerate([*addresses, None]):
            ctx.set(axi.arvalid, address is not None)
            ctx.set(axi.araddr, address or 0)
            ctx.set(axi.arid, number % 8)
            assert ctx.get(axi.arready)
            if number:
                assert ctx.get(axi.rvalid)
                got.append((ctx.get(axi.rid), ctx.get(axi.rdata)))
                assert ctx.get(axi.rlast)
                assert ctx.get(axi.rresp) == 0
            await ctx.tick()
        assert not ctx.get(axi.rvalid)

    simulate(dut, testbench)
    assert got == [(number % 8, number << 40 | 5) for number in range(count)]


def test_answers_wait():
    """A read's and a write's answer stay until they are taken; nothing is taken meanwhile."""
    dut = LocalMemory(ScordParams(local_bytes=64, outstanding=4))
    axi = dut.s_axi

    async def testbench(ctx):
        await write(ctx, axi, 8, 11)
        await write(ctx, axi, 16, 22)
        ctx.set(axi.bready, 0)
        ctx.set(axi.arvalid, 1)
        ctx.set(axi.araddr, 8)
        ctx.set(axi.arid, 3)
        await ctx.tick()
        ctx.set(axi.araddr, 16)
        ctx.set(axi.arid, 2)
        for _ in range(3):
            assert ctx.get(axi.rvalid)
            assert (ctx.get(axi.rid), ctx.get(axi.rdata)) == (3, 11)
            assert not ctx.get(axi.arready)
            await ctx.tick()
        ctx.set(axi.rready, 1)
        await ctx.tick()
        assert (ctx.get(axi.rid), ctx.get(axi.rdata)) == (2, 22)

    simulate(dut, testbench)


def test_data_may_come_late():
    dut = LocalMemory(ScordParams(local_bytes=64, outstanding=4))
    axi = dut.s_axi

    async def testbench(ctx):
        await write(ctx, axi, 8, 11)
        ctx.set(axi.awvalid, 1)
        ctx.set(axi.awaddr, 8)
        ctx.set(axi.wdata, 22)
        for _ in range(3):
            assert not ctx.get(axi.awready)
            await ctx.tick()
        ctx.set(axi.awvalid, 0)
        ctx.set(axi.arvalid, 1)
        ctx.set(axi.araddr, 8)
        await ctx.tick()
        assert ctx.get(axi.rdata) == 11

    simulate(dut, testbench)


class _LocalBank(wiring.Component):
    """A bank with its local memory instead of the memory system."""

    def __init__(self, params):
        self.bank = DetectorBank(params)
        self._memory = LocalMemory(params)
        super().__init__({})

    def elaborate(self, platform):
        m = Module()
        m.submodules.bank = self.bank
        m.submodules.memory = self._memory
        wiring.connect(m, self.bank.m_axi, self._memory.s_axi)
        return m


@pytest.mark.parametrize(("banks", "bank"), [(1, 0), (4, 2)])
def test_bank_on_local_memory(banks, bank):
    """Steps are the golden ones, one a cycle, in the largest region that the memory holds."""
    params = ScordParams(
        local_bytes=512, banks=banks, ratio=4, sm_count=2, warps_per_sm=4, packet_fifo_depth=16
    )
    region = Region(0, params.max_region_log2, 0x1238)
    assert region.entries(params) == 64
    packets = random_packets(params, region, random.Random(f"{banks}"), 200, bank=bank, entries=5)
    dut = _LocalBank(params)
    model = GoldenBank(params, region, bank)
    steps = []

    async def trace(ctx):
        port = dut.bank.trace[0]
        cycle = 0
        while True:
            *_, valid, step = await ctx.tick().sample(port.valid, Value.cast(port.payload))
            if valid:
                steps.append((cycle, params.step_layout.unpack(step)))
            cycle += 1

    async def testbench(ctx):
        ctx.set(dut.bank.i_port, bank)
        ctx.set(dut.bank.i_region.size_log2, region.size_log2)
        ctx.set(dut.bank.i_region.metadata_base, region.metadata_base)
        await pulse(ctx, dut.bank.i_clear)
        while ctx.get(dut.bank.o_busy):
            await ctx.tick()
        words = [params.packet_layout.pack(packet._asdict()) for packet in packets]
        await put_all(dut.bank.i_packet, words)(ctx)
        while len(steps) < len(packets):
            await ctx.tick()

    simulate(dut, testbench, background=[trace])
    for packet, (_, got) in zip(packets, steps, strict=True):
        assert got == model.step(packet)._asdict() | {"packet": packet._asdict()}
    cycles = [cycle for cycle, _ in steps]
    assert cycles == list(range(cycles[0], cycles[0] + len(packets)))


@pytest.mark.parametrize(
    ("bug", "check"),
    [
        (("params.segment_bytes * params.metadata_ports", "8"), test_bank_on_local_memory),
        (("axi.arready.eq(~axi.rvalid | axi.rready)", "axi.arready.eq(1)"), test_answers_wait),
        (("axi.rid.eq(axi.arid)", "axi.rid.eq(0)"), test_every_entry_has_its_place),
        (("axi.awvalid & axi.wvalid", "axi.awvalid"), test_data_may_come_late),
    ],
    ids=["place", "wait", "id", "data"],
)
def test_planted_bug_is_found(monkeypatch, bug, check):
    memory = module_with("gpu/local_memory.py", bug).LocalMemory
    monkeypatch.setitem(globals(), "LocalMemory", memory)
    arguments = {
        test_bank_on_local_memory: (4, 2), test_every_entry_has_its_place: ({}, 0),
    }  # fmt: skip
    with pytest.raises((AssertionError, TimeoutError)):
        check(*arguments.get(check, ()))


def test_local_memory_needs_bytes():
    with pytest.raises(ValueError, match=r"^Parameter local_bytes must be .*, not 0$"):
        LocalMemory(ScordParams())
