"""Table of valid segments: bits like those of a set, and banks that read nothing that was not
written since the launch."""

import random
from functools import partial

import pytest
from amaranth.hdl import Value

from racetrap.golden_model.gpu.params import VALID_ROW_BITS
from racetrap.golden_model.gpu.region import bank_of_entry
from racetrap.golden_model.gpu.valid_table import (
    clearing_cycles,
    is_written,
)
from racetrap.golden_model.layout import Layout
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.gpu.valid_table import ValidTable
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.planted_bugs import modules_with, one_for_each_file
from tests.support.rtl.metadata_memory import MemoryKnobs
from tests.support.rtl.streams import pulse, simulate
from tests.support.scord import bank_bench
from tests.support.scord.bank_packets import a_region, random_packets

_ROWS = 4
_TABLE = ScordParams(sm_count=2, valid_segments=_ROWS * VALID_ROW_BITS)


def _play(table=ValidTable, put=0.8, take=0.7, cycles=600, bits=range(60, 70)):
    """Segments that went through in two launches; each was new exactly once."""
    dut, rng, passed = table(_TABLE), random.Random(f"{put} {take}"), 0
    place = Layout({"is_new": 1, "bit": len(dut.i.p.bit)})
    below = len(Value.cast(dut.i.p)) - place.width
    source, sink = Value.cast(dut.i.payload), Value.cast(dut.o.payload)

    async def launch(ctx):
        await pulse(ctx, dut.i_clear)
        cycles = 0
        while ctx.get(dut.o_busy):
            await ctx.tick()
            cycles += 1
        assert cycles == clearing_cycles(_TABLE) == _ROWS

    async def testbench(ctx):
        nonlocal passed
        # A table that has been played with, all over, has nothing to clear that is 0 before.
        for chosen in (bits, range(_TABLE.valid_segments), range(_TABLE.valid_segments), bits):
            await launch(ctx)
            claimed, due, offers = set(), [], False
            for _ in range(cycles):
                if not offers and rng.random() < put:
                    offers = True
                    offered = rng.getrandbits(below), rng.random() < 0.9, rng.choice(chosen)
                    rest, has_bit, bit = offered
                    ctx.set(source, rest | place.pack({"is_new": has_bit, "bit": bit}) << below)
                takes = rng.random() < take
                ctx.set(dut.i.valid, offers)
                ctx.set(dut.o.ready, takes)
                _, _, ready, valid, got = await ctx.tick().sample(dut.i.ready, dut.o.valid, sink)
                if valid and takes:
                    rest, has_bit, bit = due.pop(0)
                    is_new = has_bit and bit not in claimed
                    claimed |= {bit} if has_bit else set()
                    assert got & (1 << below) - 1 == rest
                    assert place.unpack(got >> below) == {"is_new": is_new, "bit": bit}
                    passed += 1
                if offers and ready:
                    due.append(offered)
                    offers = False
            ctx.set(dut.i.valid, 0)
            ctx.set(dut.o.ready, 1)
            await ctx.tick()
            ctx.set(dut.o.ready, 0)

    simulate(dut, testbench)
    return passed


@pytest.mark.parametrize(("put", "take"), [(0.8, 0.7), (1, 0.3), (1, 1)])
def test_each_segment_is_new_once(put, take):
    passed = _play(put=put, take=take)
    assert passed == 4 * 599 if put == take == 1 else passed > 600


_OF_TABLE = {
    "bit not set": ("row | (1 << place[:column_bits])", "row"),
    "bits of others lost": ("row | (1 << place[:column_bits])", "(1 << place[:column_bits])"),
    "bit of the segment ahead not seen": (
        "was_written.eq(write.en & (write.addr == read.addr))", "was_written.eq(0)",
    ),
    "row ahead taken for another": (
        "was_written.eq(write.en & (write.addr == read.addr))", "was_written.eq(write.en)",
    ),
    "row read for the next while one waits": ("read.en.eq(is_taken)", "read.en.eq(1)"),
    "last row not cleared": ("self.o_busy.eq(cleared != depth)", "self.o_busy.eq(cleared < 3)"),
    "set without being new": ("self.o.valid & self.o.p.is_new", "self.o.valid"),
}  # fmt: skip


@pytest.mark.parametrize("name", _OF_TABLE)
def test_planted_bug_of_the_table_is_found(name):
    file = "gpu/valid_table.py"
    module = modules_with([file], Patch(file, *_OF_TABLE[name]))[file]
    with pytest.raises(AssertionError):
        _play(module.ValidTable)


# Banks --------------------------------------------------------------------------------------

_BASE = {
    "sm_count": 2, "blocks_per_sm": 2, "warps_per_sm": 4, "ratio": 4, "outstanding": 8,
    "address_bits": 24, "valid_segments": VALID_ROW_BITS,
}  # fmt: skip
_KNOBS = MemoryKnobs(read_latency=(0, 9), write_latency=(0, 9), reorder=0.5)


def _launches(settings=None, bank=0, extra_log2=3, knobs=_KNOBS):
    """Two equal launches of a bank: cycles of each, and entries that it writes."""
    params = ScordParams(**_BASE | (settings or {}))
    region = a_region(params, extra_log2)
    bench = bank_bench.BankBench(params, region, bank=bank, knobs=knobs, seed="valid")
    rng = random.Random(f"{settings} {bank}")
    cycles, memory = [], bench.memory
    packets = random_packets(params, region, rng, 90, bank=bank, entries=40, outside=0.3)

    async def testbench(ctx):
        for _ in range(2):
            # What stands in memory is of no use to a kernel.
            memory.words.clear()
            memory.reads.clear()
            bench.traced.clear()
            cycles.append(await bench.clear(ctx))
            await bench.play(ctx, packets)
            await bench.until_idle(ctx)
            got = [params.step_layout.unpack(step) for _, step in bench.traced]
            for packet, one in zip(packets, got, strict=True):
                step = bench.model.step(packet, bool(one["read_error"]))
                assert one == step._asdict() | {"packet": packet._asdict()}
            bench._check_memory()

    bench.simulate(testbench)
    return cycles, sum(
        bank_of_entry(params, index) == bank and is_written(params, region, index, ())
        for index in range(region.entries(params))
    )


@pytest.mark.parametrize(
    ("settings", "bank", "extra_log2"),
    [
        ({}, 0, 4),
        ({"banks": 3}, 2, 1),
        pytest.param({"merge_in_flight": False}, 0, 4, marks=pytest.mark.campaign),
        pytest.param({"banks": 6}, 5, 1, marks=pytest.mark.campaign),
    ],
    ids=str,
)
def test_bank_reads_only_what_was_written(settings, bank, extra_log2):
    _, written = _launches(settings, bank, extra_log2)
    assert written > 0


_OF_BANK = {
    "new entry read all the same": Patch(
        "gpu/hazard_window.py", "with m.If(self._is_new):", "if False:"
    ),
    "what memory never answered": Patch(
        "gpu/metadata_accessor.py", "Mux(taken.is_new, params.uninitialised_entry, entry)", "entry"
    ),
    "owner of what it never answered": Patch(
        "gpu/metadata_accessor.py", "Mux(is_new, 0, owners[lane])", "owners[lane]"
    ),
    "table survives launch": Patch(
        "scord/detector_bank.py", "table.i_clear.eq(self.i_clear)", "table.i_clear.eq(0)"
    ),
    "packets while it is cleared": Patch(
        "scord/detector_bank.py", "~table.o.valid, [table.o_busy]",
        "~table.o.valid, []",
    ),
    "sweep begins late": Patch(
        "gpu/init_engine.py", "index.eq(self.i_port | first)",
        "index.eq(self.i_port | first << 1)",
    ),
    "sweep left out": Patch(
        "gpu/init_engine.py", "sending.eq(end > first.bit_length() - 1)", "sending.eq(0)"
    ),
    "segments without a bit are new": Patch(
        "scord/detector_bank.py", "located.p.is_new.eq(located.p.monitored & has_bit)",
        "located.p.is_new.eq(located.p.monitored)",
    ),
    "fences are new": Patch(
        "scord/detector_bank.py", "located.p.is_new.eq(located.p.monitored & has_bit)",
        "located.p.is_new.eq(has_bit)",
    ),
}  # fmt: skip
_BANK_FILES = (
    "gpu/hazard_window.py", "gpu/init_engine.py", "gpu/metadata_accessor.py", "gpu/valid_table.py",
    "gpu/detector_bank.py", "scord/detector_bank.py",
)  # fmt: skip


@pytest.mark.parametrize(
    "name", one_for_each_file({name: bug.file for name, bug in _OF_BANK.items()}, step=2)
)
def test_planted_bug_of_a_bank_is_found(monkeypatch, name):
    modules = modules_with(_BANK_FILES, _OF_BANK[name])
    monkeypatch.setattr(bank_bench, "DetectorBank", modules[_BANK_FILES[-1]].DetectorBank)
    check = partial(_launches, extra_log2=4)
    if name == "packets while it is cleared":
        check = partial(test_launch_clears_the_table_and_writes_the_rest, 4096)
    with pytest.raises((AssertionError, TimeoutError)):
        check()


@pytest.mark.parametrize("bits", [pytest.param(0, marks=pytest.mark.campaign), 64, 4096])
def test_launch_clears_the_table_and_writes_the_rest(bits):
    cycles, written = _launches({"ratio": 1, "valid_segments": bits}, knobs=MemoryKnobs())
    assert written == max(256 - bits, 0)
    for each in cycles:
        assert 0 <= each - max(written, bits // VALID_ROW_BITS) <= 8


def test_table_needs_bits():
    with pytest.raises(ValueError, match=r"^Parameter valid_segments must be .*, not 0$"):
        ValidTable(ScordParams())
