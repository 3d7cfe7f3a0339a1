"""Bounds of metadata and ring at a launch, and what a protected detector does with accesses."""

from dataclasses import replace
from random import Random

import pytest

from racetrap.golden_model.gpu.protection import Bounds, MemoryBounds
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.gpu.region_table import LineRegion, RegionTable
from racetrap.golden_model.protection import PageProtection, Prot
from racetrap.rtl.common.axi import AxiResponse
from racetrap.rtl.gpu.launch_control import LaunchControl
from tests.rtl.scord.test_system import (
    ADDRESS,
    CONFIG_ERROR,
    ENABLE,
    PROTECTED,
    RACE,
    RING,
    Bench,
    send,
)
from tests.support.rtl.axi_lite import axil_read, axil_write
from tests.support.rtl.streams import simulate

OKAY, SLVERR = AxiResponse.OKAY, AxiResponse.SLVERR
_RECORD_BYTES = 32


def _near(random, first, end):
    """Bounds that the bytes keep to, or miss by a little."""
    nudge = random.choice((0, 0, 0, 1, 8, 64))
    base = max(first + random.choice((-nudge, 0, 0, nudge)), 0)
    return Bounds(base, max(end - 1 + random.choice((-nudge, 0, 0, nudge)), 0))


def _single(random, params):
    size = random.randint(params.min_region_log2, params.min_region_log2 + 4)
    return Region(random.randrange(16) << size, size, 8 * random.randrange(1 << 10))


def _table(random, params):
    second = random.randrange(1, 5)
    regions = (
        LineRegion(0x1000, 2, 8 * random.randrange(64)),
        LineRegion(0x4000, 1, 0x1000 + 8 * random.randrange(64)),
    )
    return RegionTable(regions[: 1 + second % 2])


def _set_region(ctx, dut, region):
    if isinstance(region, Region):
        ctx.set(dut.i_bases.data, region.data_base)
        ctx.set(dut.i_bases.metadata, region.metadata_base)
        ctx.set(dut.i_size_log2, region.size_log2)
        return
    for number, registers in enumerate(dut.i_regions):
        given = number < len(region.regions)
        one = region.regions[number] if given else LineRegion()
        ctx.set(registers.data, one.data_base)
        ctx.set(registers.lines, one.lines)
        ctx.set(registers.metadata, one.metadata_base)


@pytest.mark.parametrize(("regions", "draw"), [(1, _single), (2, _table)])
def test_launches_are_refused_as_the_golden_model_says(regions, draw):
    params = replace(PROTECTED, regions=regions)
    dut, random, seen = LaunchControl(params), Random(f"bounds {regions}"), {True: 0, False: 0}

    async def launch(ctx):
        """Whether a launch is refused because of the bounds."""
        ctx.set(dut.i_written, 1)
        await ctx.tick()
        ctx.set(dut.i_written, 0)
        ctx.set(dut.i_launch, 1)
        await ctx.tick()
        ctx.set(dut.i_launch, 0)
        while not ctx.get(dut.o_outside) and not ctx.get(dut.o_taken):
            await ctx.tick()
        outside = ctx.get(dut.o_outside)
        while ctx.get(dut.o_busy):
            await ctx.tick()
        return outside

    async def testbench(ctx):
        ctx.set(dut.i_idle, 1)
        for _ in range(150):
            region, ring = draw(random, params), _RECORD_BYTES * random.randrange(1 << 10)
            ring_bytes = _RECORD_BYTES << (ring_log2 := random.randrange(6))
            spans = region.metadata_spans(params)
            bounds = MemoryBounds(
                _near(random, min(first for first, _ in spans), max(end for _, end in spans)),
                _near(random, ring, ring + ring_bytes),
            )
            _set_region(ctx, dut, region)
            ctx.set(dut.i_bases.report, ring)
            ctx.set(dut.i_capacity_log2, ring_log2)
            for part in ("metadata", "report"):
                for end in ("base", "limit"):
                    ctx.set(dut.i_bounds[part][end], getattr(getattr(bounds, part), end))
            try:
                bounds.check(params, region, ring, ring_bytes)
                expected = 0
            except ValueError:
                expected = 1
            assert await launch(ctx) == expected, (region, ring, ring_log2, bounds)
            assert ctx.get(dut.o_config_error) == expected
            seen[bool(expected)] += 1

    simulate(dut, testbench)
    assert min(seen.values()) > 20


@pytest.mark.campaign
def test_a_protected_system():
    """Attributes at both ports, refused accesses, and bounds that hold from the first launch on."""
    bench = Bench(PROTECTED)
    dut, privileged = bench.dut, Prot.PRIVILEGED
    seen = {"metadata": set(), "report": set()}

    async def watch(ctx):
        metadata, report = dut.m_axi_metadata[0], dut.m_axi_report
        channels = (("metadata", metadata, "aw"), ("metadata", metadata, "ar"))
        while True:
            for part, port, channel in (*channels, ("report", report, "aw")):
                valid, prot, cache = (
                    ctx.get(getattr(port, f"{channel}{name}"))
                    for name in ("valid", "prot", "cache")
                )
                if valid:
                    seen[part].add((channel, prot, cache))
            await ctx.tick()

    async def write(ctx, name, value, prot=0):
        return await axil_write(ctx, dut.s_axil, ADDRESS[name], value, prot=prot)

    async def host(ctx):
        await bench.configure(ctx)
        assert await write(ctx, "BUS_ATTRIBUTES", 0x8000_3520) == OKAY
        assert await write(ctx, "BUS_ATTRIBUTES", 0) == SLVERR
        assert await write(ctx, "REPORT_BOUNDS_LIMIT_LO", RING & 0xFFFFFFFF) == OKAY
        assert await write(ctx, "REPORT_BOUNDS_LIMIT_HI", RING >> 32) == OKAY
        assert await bench.launch(ctx) & CONFIG_ERROR
        assert await bench.read(ctx, "LAUNCHES_OUTSIDE") == 1
        assert await write(ctx, "REPORT_BOUNDS_LIMIT_HI", (RING >> 32) + 1) == OKAY
        assert not await bench.launch(ctx, ENABLE) & CONFIG_ERROR
        assert await write(ctx, "REPORT_BOUNDS_LIMIT_HI", 0) == SLVERR
        assert await bench.read(ctx, "BOUNDS") == 1
        await send(ctx, bench, RACE)
        await bench.wait_idle(ctx)
        assert await bench.read(ctx, "ACCESSES_REFUSED") == 2
        required = PageProtection(privileged_reads=True, privileged_writes=True, secure_writes=True)
        assert await write(ctx, "PROTECTION", 0x8000_0301) == OKAY
        for prot in range(8):
            data, response = await axil_read(ctx, dut.s_axil, ADDRESS["ID"], prot=prot)
            may_read, may_write = (
                required.admits(Prot(prot), is_write=is_write) for is_write in (False, True)
            )
            assert (data != 0, response) == ((True, OKAY) if may_read else (False, SLVERR)), prot
            tail = await write(ctx, "REPORT_TAIL", prot, prot)
            assert tail == (OKAY if may_write else SLVERR), prot
        tail, _ = await axil_read(ctx, dut.s_axil, ADDRESS["REPORT_TAIL"], prot=privileged)
        refused, _ = await axil_read(ctx, dut.s_axil, ADDRESS["ACCESSES_REFUSED"], prot=privileged)
        # Of eight accesses each, four reads and six writes.
        assert (tail, refused) == (5, 2 + 4 + 6)
        assert await write(ctx, "PROTECTION", 0, privileged) == SLVERR

    background = [*bench.ring.testbenches(), watch]
    for memory in bench.metadata:
        background += memory.testbenches(read=True)
    simulate(dut, host, background=background, cycles=20_000)
    assert seen == {"metadata": {("aw", 0, 2), ("ar", 0, 2)}, "report": {("aw", 5, 3)}}
