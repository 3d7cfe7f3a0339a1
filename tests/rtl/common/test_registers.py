"""The register block against a small description that has every kind of field."""

import random

import pytest

from racetrap.rtl.common.axi import AxiResponse
from racetrap.rtl.common.registers import RegisterBlock
from tests.support.rtl.axi_lite import axil_read, axil_write
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.small_registers import DESCRIPTION, compile_text
from tests.support.rtl.streams import simulate

OKAY, SLVERR = AxiResponse.OKAY, AxiResponse.SLVERR


@pytest.fixture
def block(tmp_path):
    return RegisterBlock(compile_text(tmp_path, DESCRIPTION))


def test_reads_constants_wires_and_reset_values(block):
    async def testbench(ctx):
        ctx.set(block.wire.low, 0x5A)
        ctx.set(block.wire.high, 0xC3)
        assert await axil_read(ctx, block.s_axil, 0x0) == (0x1234ABCD, OKAY)
        assert await axil_read(ctx, block.s_axil, 0x4) == (0xC300005A, OKAY)
        assert await axil_read(ctx, block.s_axil, 0x8) == (0x55AA00FF, OKAY)
        assert await axil_read(ctx, block.s_axil, 0xB) == (0x55AA00FF, OKAY)  # low bits ignored
        assert await axil_read(ctx, block.s_axil, 0x10) == (1, OKAY)

    simulate(block, testbench)


def test_some_of_the_registers(tmp_path):
    block = RegisterBlock(compile_text(tmp_path, DESCRIPTION), names=("CONTROL", "CONSTANT"))

    async def testbench(ctx):
        assert await axil_read(ctx, block.s_axil, 0x0) == (0x1234ABCD, OKAY)
        assert await axil_write(ctx, block.s_axil, 0x10, 0) == OKAY
        assert await axil_read(ctx, block.s_axil, 0x10) == (0, OKAY)
        assert await axil_write(ctx, block.s_axil, 0x8, 1) == SLVERR
        for address in (0x4, 0x8, 0x20, 0x30):
            assert (await axil_read(ctx, block.s_axil, address))[1] == SLVERR

    simulate(block, testbench)
    assert {"control", "s_axil"} == set(block.signature.members)


@pytest.mark.parametrize("order", ["together", "address", "data"])
@pytest.mark.parametrize("strobe", range(16))
def test_write_honours_strobes_in_any_channel_order(block, order, strobe):
    mask = sum(0xFF << 8 * lane for lane in range(4) if strobe >> lane & 1)

    async def testbench(ctx):
        response = await axil_write(ctx, block.s_axil, 0x8, 0xDEADBEEF, strobe=strobe, order=order)
        expected = 0x55AA00FF & ~mask | 0xDEADBEEF & mask
        assert response == OKAY
        assert ctx.get(block.stored.word) == expected
        assert await axil_read(ctx, block.s_axil, 0x8) == (expected, OKAY)

    simulate(block, testbench)


def test_two_writes_are_taken_before_the_first_response_and_the_second_waits_for_it(block):
    """As the wiring page says; a master that has more outstanding is held by ready."""
    axi = block.s_axil
    addresses, data = [0x8, 0x8, 0x8], [1, 2, 3]

    async def testbench(ctx):
        taken = {"aw": 0, "w": 0}
        for _ in range(20):
            for channel, values, port in (("aw", addresses, axi.awaddr), ("w", data, axi.wdata)):
                ctx.set(getattr(axi, f"{channel}valid"), taken[channel] < len(values))
                ctx.set(port, values[min(taken[channel], len(values) - 1)])
            ctx.set(axi.wstrb, 0xF)
            *_, aw, w = await ctx.tick().sample(axi.awvalid & axi.awready, axi.wvalid & axi.wready)
            taken["aw"] += aw
            taken["w"] += w
        assert taken == {"aw": 2, "w": 2}
        assert (ctx.get(axi.bvalid), ctx.get(block.stored.word)) == (1, 1)
        ctx.set(axi.awvalid, 0)
        ctx.set(axi.wvalid, 0)
        ctx.set(axi.bready, 1)
        await ctx.tick().repeat(4)
        assert (ctx.get(axi.bvalid), ctx.get(block.stored.word)) == (0, 2)

    simulate(block, testbench)


@pytest.mark.parametrize("answered", [False, True])
def test_one_read_is_taken_until_its_data_is(block, answered):
    axi = block.s_axil

    async def testbench(ctx):
        ctx.set(axi.arvalid, 1)
        ctx.set(axi.rready, answered)
        taken = 0
        for _ in range(10):
            *_, is_taken = await ctx.tick().sample(axi.arready)
            taken += is_taken
        assert taken == (5 if answered else 1)

    simulate(block, testbench)


def test_errors_change_nothing_and_do_not_hang(block):
    async def testbench(ctx):
        for address in (0xC, 0x1C, 0x28, 0xFFC):
            assert await axil_read(ctx, block.s_axil, address) == (0, SLVERR)
            assert await axil_write(ctx, block.s_axil, address, 0xFFFFFFFF) == SLVERR
        for address in (0x0, 0x4, 0x20):
            assert await axil_write(ctx, block.s_axil, address, 0xFFFFFFFF) == SLVERR
        assert await axil_read(ctx, block.s_axil, 0x14) == (0, SLVERR)
        assert await axil_read(ctx, block.s_axil, 0x8) == (0x55AA00FF, OKAY)
        assert await axil_write(ctx, block.s_axil, 0x8, 7) == OKAY
        assert await axil_read(ctx, block.s_axil, 0x8) == (7, OKAY)

    simulate(block, testbench)


def test_pulse_lasts_one_cycle_and_reads_zero(block):
    cycles = []

    async def watch(ctx):
        while True:
            *_, control, trigger = await ctx.tick().sample(block.control.pulse, block.trigger.pulse)
            cycles.append((control, trigger))

    async def testbench(ctx):
        assert await axil_write(ctx, block.s_axil, 0x10, 0x100) == OKAY
        assert await axil_read(ctx, block.s_axil, 0x10) == (0, OKAY)
        assert await axil_write(ctx, block.s_axil, 0x10, 0x100, strobe=0b1101) == OKAY
        assert await axil_write(ctx, block.s_axil, 0x14, 1) == OKAY
        await ctx.tick()

    simulate(block, testbench, background=[watch])
    assert [sum(column) for column in zip(*cycles, strict=True)] == [1, 1]


def test_port_reads_the_hardware_and_tells_of_writes(block):
    written = []

    async def watch(ctx):
        low, high = block.port.low, block.port.high
        while True:
            *_, first, second, data_low, data_high = await ctx.tick().sample(
                low.strobe, high.strobe, low.data, high.data
            )
            assert first == second
            if first:
                written.append((data_low, data_high))

    async def testbench(ctx):
        ctx.set(block.port.low.value, 0x12)
        ctx.set(block.port.high.value, 0x34)
        assert await axil_read(ctx, block.s_axil, 0x30) == (0x00340012, OKAY)
        assert await axil_write(ctx, block.s_axil, 0x30, 0xFFABFFCD) == OKAY
        assert await axil_write(ctx, block.s_axil, 0x30, 0xFFABFFCD, strobe=0b0001) == OKAY
        assert await axil_read(ctx, block.s_axil, 0x30) == (0x00340012, OKAY)

    simulate(block, testbench, background=[watch])
    assert written == [(0xCD, 0xAB), (0xCD, 0x34)]


def test_counters_saturate_or_wrap_and_clear(block):
    rng = random.Random(5)
    increments = [rng.randrange(32) for _ in range(20)]

    async def testbench(ctx):
        total = 0
        for increment in increments:
            ctx.set(block.saturating.count.increment, increment)
            ctx.set(block.wrapping.count.increment, increment)
            await ctx.tick()
            ctx.set(block.saturating.count.increment, 0)
            ctx.set(block.wrapping.count.increment, 0)
            total += increment
            assert await axil_read(ctx, block.s_axil, 0x20) == (min(total, 255), OKAY)
            assert await axil_read(ctx, block.s_axil, 0x24) == (total % 256, OKAY)
        assert total > 255
        ctx.set(block.saturating.count.increment, 3)
        ctx.set(block.saturating.count.clear, 1)
        await ctx.tick()
        ctx.set(block.saturating.count.increment, 0)
        ctx.set(block.saturating.count.clear, 0)
        assert await axil_read(ctx, block.s_axil, 0x20) == (0, OKAY)
        assert await axil_read(ctx, block.s_axil, 0x24) == (total % 256, OKAY)

    simulate(block, testbench)


def test_back_pressure_keeps_answers(block):
    """Answers wait for `ready`, and the next accesses wait behind them."""

    async def testbench(ctx):
        port = block.s_axil
        for name, value in {
            "araddr": 0x8, "arvalid": 1, "awaddr": 0x8, "awvalid": 1,
            "wdata": 0x11111111, "wstrb": 0xF, "wvalid": 1,
        }.items():  # fmt: skip
            ctx.set(getattr(port, name), value)
        for _ in range(10):
            await ctx.tick()
        assert ctx.get(port.rvalid) == 1
        assert ctx.get(port.rdata) == 0x55AA00FF
        assert ctx.get(port.bvalid) == 1
        # A second write is held in the block but not carried out before the first is answered.
        assert ctx.get(port.awready) == 0
        assert ctx.get(port.wready) == 0

    simulate(block, testbench)


def test_no_path_from_valid_to_ready(block):
    assert valid_to_ready_paths(block) == []


def test_rejects_a_field_without_hardware(tmp_path):
    node = compile_text(
        tmp_path,
        "addrmap block { reg { field { sw = rw; hw = rw; } both[7:0] = 0; } R @ 0; };",
    )
    with pytest.raises(ValueError, match=r"Register field block\.R\.both must be .*, not sw=rw"):
        RegisterBlock(node)


def test_rejects_a_wide_register(tmp_path):
    node = compile_text(
        tmp_path,
        "addrmap block { reg { regwidth = 64; field { sw = rw; hw = r; } x[63:0] = 0; } R @ 0; };",
    )
    with pytest.raises(ValueError, match="must be 32 bits wide, not 64"):
        RegisterBlock(node)


def test_rejects_a_register_outside_the_space(tmp_path):
    node = compile_text(tmp_path, DESCRIPTION.replace("PORT @ 0x30", "PORT @ 0x1000"))
    with pytest.raises(ValueError, match=r"block\.PORT must lie below 0x1000, not at 0x1000"):
        RegisterBlock(node)
