"""Region table in hardware: places like the golden model's, and the same tables refused."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from racetrap.golden_model.gpu.params import LINE_BYTES
from racetrap.golden_model.gpu.region_table import LineRegion, RegionTable
from racetrap.golden_model.gpu.valid_table import valid_bit
from racetrap.golden_model.scord.packets import Packet, PacketKind, TableRow
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.gpu.metadata_accessor import located_segment
from racetrap.rtl.gpu.region_table import RegionChecker, RegionLocator
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.campaign import later_but
from tests.support.planted_bugs import modules_with
from tests.support.rtl.metadata_memory import MemoryKnobs
from tests.support.rtl.streams import get, put, random_idle, simulate
from tests.support.scord import bank_bench
from tests.support.scord.bank_packets import access, fence, set_region

_TINY = ScordParams(
    sm_count=2, blocks_per_sm=2, warps_per_sm=4, ratio=4, outstanding=8, regions=3,
    address_bits=16,
)  # fmt: skip


def random_table(params, rng, packed=False):
    """Small regions that do not overlap, some of them neighbours or not used."""
    while True:
        data, metadata, regions = LINE_BYTES * rng.randrange(1, 30), 64 * rng.randrange(9), []
        for _ in range(params.regions):
            lines = rng.choice((0, 1, 1, 2, 3, 5, 8, 17))
            region = LineRegion(data, lines, metadata)
            regions.append(region)
            gap = 0 if packed else rng.randrange(2)
            data = region.end + LINE_BYTES * gap * rng.randrange(5)
            metadata = region.metadata_end(params) + 64 * gap * rng.randrange(3)
        rng.shuffle(regions)
        table = RegionTable(tuple(regions))
        try:
            table.check(params)
        except ValueError:
            continue
        if table.parts:
            return table


def border_words(params, table):
    """First and last words of all regions, their neighbours, and one in the middle."""
    words = [0, (1 << params.word_bits) - 1]
    for base, size in table.parts:
        words += [(base + step) // 4 for step in (-4, 0, size // 2, size - 4, size)]
    return [word for word in words if 0 <= word < 1 << params.word_bits]


def locate(params, table, words, locator=RegionLocator):
    dut = locator(params)
    layout, places = params.segment_layout, []
    located = located_segment(params)

    async def testbench(ctx):
        set_region(ctx, dut.i_region, params, table)
        for word in words:
            fields = dict.fromkeys(layout.fields, 0) | {"kind": PacketKind.STORE, "word": word}
            await put(ctx, dut.i, layout.pack(fields))

    async def sink(ctx):
        idle = random_idle("sink", 0.3)
        for _ in words:
            for _ in range(idle()):
                await ctx.tick()
            place = located.from_bits(await get(ctx, dut.o))
            bit = None
            if params.valid_segments and place.is_new:
                bit = place.bit
            tag = place.tag if params.tag_bits else 0
            places.append((place.monitored, place.index, tag, bit))

    simulate(dut, testbench, sink)
    return places


SIZES = [
    {},
    {"ratio": 1, "banks": 4},
    {"ratio": 64, "granularity": 16},
    {"ratio": 2, "granularity": 8, "banks": 2, "words_per_cycle": 2},
    {"ratio": 8, "banks": 3, "regions": 5},
    {"ratio": 16, "banks": 6, "words_per_cycle": 2, "address_bits": 20},
    {"ratio": 1, "granularity": 16, "valid_segments": 256},
    {"ratio": 2, "banks": 6, "words_per_cycle": 2, "address_bits": 20, "valid_segments": 512},
]


def _compare(settings, seed, locator=RegionLocator):
    params = replace(_TINY, **settings)
    rng = random.Random(f"{settings} {seed}")
    table = random_table(params, rng)
    words = border_words(params, table)
    words += [rng.randrange(base // 4, (base + size) // 4) for base, size in table.parts * 9]
    monitored = 0
    places = locate(params, table, words, locator)
    for word, (is_in, index, tag, bit) in zip(words, places, strict=True):
        assert is_in == table.contains(4 * word), hex(4 * word)
        if is_in:
            entry, golden_tag = table.locate(params, 4 * word)
            address = table.metadata_base + 8 * entry
            assert (index, tag) == (address // params.segment_bytes, golden_tag), hex(4 * word)
            assert bit == valid_bit(params, table, entry), hex(4 * word)
            monitored += 1
        else:
            assert bit is None
    assert 0 < monitored < len(words)


@pytest.mark.parametrize("seed", later_but(lambda seed: seed == 0, range(3)))
@pytest.mark.parametrize("settings", SIZES, ids=str)
def test_locates_like_the_golden_model(settings, seed):
    _compare(settings, seed)


_FILE = "gpu/region_table.py"
_LOCATOR_BUGS = {
    "last line": Patch(_FILE, "(line < region.end)", "(line + 1 < region.end)"),
    "line before": Patch(_FILE, "(line >= region.first)", "(line + 1 >= region.first)"),
    "metadata of region 0": Patch(
        _FILE, "one_hot_select(hit, (region.segment for", "one_hot_select(hit[:1].replicate("
        "len(hit)), (self.i_region[0].segment for",
    ),
    "region 1 taken for region 0": Patch(
        _FILE, "one_hot_select(hit, firsts)", "one_hot_select(hit, [firsts[0], *firsts[:-1]])"
    ),
    "tag of one step": Patch(_FILE, "divisor = before.p.turns << bit", "divisor = before.p.turns"),
    "fits without the equal": Patch(_FILE, "fits.eq(rest >= divisor)", "fits.eq(rest > divisor)"),
    "bit of another region": Patch(
        _FILE, "valid_bit(params, within, given.region)",
        "valid_bit(params, within, given.region & 0)",
    ),
    "bit outside": Patch(_FILE, "is_new.eq(given.monitored & has_bit)", "is_new.eq(has_bit)"),
}  # fmt: skip


@pytest.mark.parametrize("name", _LOCATOR_BUGS)
def test_planted_bug_of_the_locator_is_found(name):
    module = modules_with([_FILE], _LOCATOR_BUGS[name])[_FILE]

    def compare():
        for seed in range(4):
            _compare({"ratio": 8, "valid_segments": 256}, seed, module.RegionLocator)

    with pytest.raises(AssertionError):
        compare()


def _judge(params, tables, checker=RegionChecker):
    """Whether the hardware would take each table; they are written one after the other."""
    dut, verdicts, cycles = checker(params), [], []

    async def testbench(ctx):
        for table in tables:
            for number, region in enumerate(table.regions):
                registers = dut.i_registers[number]
                ctx.set(registers.data, region.data_base)
                ctx.set(registers.lines, region.lines)
                ctx.set(registers.metadata, region.metadata_base)
            ctx.set(dut.i_written, 1)
            await ctx.tick()
            ctx.set(dut.i_written, 0)
            waited = 1
            while not ctx.get(dut.o_settled):
                await ctx.tick()
                waited += 1
            cycles.append(waited)
            verdicts.append(bool(ctx.get(dut.o_legal)))

    simulate(dut, testbench)
    assert max(cycles) <= params.regions**2 + 3
    return verdicts


def _is_legal(params, table):
    try:
        table.check(params)
    except ValueError:
        return False
    return True


def _spoilt(params, table, rng):
    """A table with one register changed by little."""
    regions = list(table.regions)
    number = rng.randrange(len(regions))
    region = regions[number]
    name = rng.choice(("data_base", "lines", "metadata_base"))
    steps = {"data_base": (64, 128, 256), "lines": (1, 2), "metadata_base": (4, 8, 64)}[name]
    value = getattr(region, name) + rng.choice(steps) * rng.choice((-1, 1))
    if rng.random() < 0.1 and name != "lines":
        value = (1 << params.address_bits) - rng.choice((0, 8, 128, 1024))
    regions[number] = replace(region, **{name: max(value, 0)})
    return RegionTable(tuple(regions))


def _judge_random(checker=RegionChecker):
    judged = []
    for settings in ({}, {"banks": 2, "words_per_cycle": 2, "regions": 2}):
        params = replace(_TINY, **settings)
        rng = random.Random(f"judge {settings}")
        tables = []
        for _ in range(150):
            good = random_table(params, rng, packed=True)
            tables += [good, _spoilt(params, good, rng)]
        expected = [_is_legal(params, table) for table in tables]
        assert expected.count(False) > 60
        assert _judge(params, tables, checker) == expected
        judged += expected
    return judged


def test_refuses_what_the_golden_model_refuses():
    assert len(_judge_random()) == 600


_CHECKER_BUGS = {
    "data may overlap": Patch(_FILE, "clash | meet[0] | meet[1]", "clash | meet[1]"),
    "metadata may overlap": Patch(_FILE, "clash | meet[0] | meet[1]", "clash | meet[0]"),
    "clash forgotten": Patch(_FILE, "clash.eq(clash | meet[0]", "clash.eq(meet[0]"),
    "neighbours clash": Patch(
        _FILE, '(one[f"{part}_first"] < other[f"{part}_end"])',
        '(one[f"{part}_first"] <= other[f"{part}_end"])',
    ),
    "metadata end": Patch(_FILE, "metadata_end <= 1 <<", "metadata_end <= 2 <<"),
    "first region alone": Patch(_FILE, "numbers[1] == last", "numbers[1] == 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", _CHECKER_BUGS)
def test_planted_bug_of_the_checker_is_found(name):
    module = modules_with([_FILE], _CHECKER_BUGS[name])[_FILE]
    with pytest.raises(AssertionError):
        _judge_random(module.RegionChecker)


def test_change_while_it_is_looked_at_begins_anew():
    """A clash that comes when its pair has been looked at already."""
    params = replace(_TINY, regions=2)
    good = RegionTable((LineRegion(0x1000, 2, 0), LineRegion(0x2000, 2, 0x400)))
    dut, seen = RegionChecker(params), []

    async def testbench(ctx):
        for number, region in enumerate(good.regions):
            ctx.set(dut.i_registers[number].data, region.data_base)
            ctx.set(dut.i_registers[number].lines, region.lines)
            ctx.set(dut.i_registers[number].metadata, region.metadata_base)
        for delay in range(8):
            ctx.set(dut.i_registers[1].data, 0x2000)
            ctx.set(dut.i_written, 1)
            await ctx.tick()
            ctx.set(dut.i_written, 0)
            for _ in range(delay):
                await ctx.tick()
            ctx.set(dut.i_registers[1].data, 0x1080)
            ctx.set(dut.i_written, 1)
            await ctx.tick()
            ctx.set(dut.i_written, 0)
            while not ctx.get(dut.o_settled):
                await ctx.tick()
            seen.append(ctx.get(dut.o_legal))

    simulate(dut, testbench)
    assert seen == [0] * 8


@pytest.mark.parametrize(("seed", "bits"), [(0, 0), (1, 256), (2, 256)])
def test_bank_with_a_table(seed, bits):
    """Steps, counts and memory at the borders of all regions; what lies between stays as it is."""
    rng = random.Random(f"bank {seed}")
    params = replace(_TINY, valid_segments=bits)
    table = random_table(params, rng)
    words = [word for word in border_words(params, table) for _ in range(3)]
    rng.shuffle(words)
    packets = []
    for word in words:
        block, warp = rng.randrange(4), rng.randrange(4)
        packets.append(access(rng.choice((PacketKind.LOAD, PacketKind.STORE)), word, block, warp))
        if rng.random() < 0.2:
            packets.append(fence(block, warp))
    bench = bank_bench.BankBench(params, table, knobs=MemoryKnobs(), seed=str(seed))
    steps = bench.run(packets)
    rows = [step.row == TableRow.UNMONITORED for step in steps if not _is_fence(step.packet)]
    assert {one != other for one, other in pairwise(rows)} == {True, False}


@pytest.mark.campaign
@pytest.mark.parametrize(
    "bug",
    [
        ("region.turns > first >> turn_segments", "region.turns > first << 2"),
        ("self.i_port | Const(first, bits)", "self.i_port | Const(0, bits)"),
    ],
    ids=["left out", "begins early"],
)
def test_planted_bug_of_the_rest_of_a_sweep_is_found(monkeypatch, bug):
    """Of a region that has bits for some of its segments."""
    files = [
        "gpu/init_engine.py",
        "gpu/metadata_accessor.py",
        "gpu/detector_bank.py",
        "scord/detector_bank.py",
    ]
    bank = modules_with(files, Patch(files[0], *bug))[files[-1]]
    monkeypatch.setattr(bank_bench, "DetectorBank", bank.DetectorBank)
    with pytest.raises(AssertionError):
        test_bank_with_a_table(2, 256)


def _is_fence(packet: Packet) -> bool:
    return packet.kind == PacketKind.FENCE
