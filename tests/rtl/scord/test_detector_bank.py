"""Detector bank step by step against the golden bank, over memories of all tempers."""

import itertools
import random

import pytest

from racetrap.golden_model.events import Scope
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.packets import PacketKind, TableRow
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.detector_bank import DetectorBank
from tests.support.campaign import later_but
from tests.support.rtl.metadata_memory import MemoryKnobs
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.scord.bank_bench import BankBench
from tests.support.scord.bank_packets import a_region, access, fence, random_packets, word_of

TINY = ScordParams(
    sm_count=2, blocks_per_sm=2, warps_per_sm=4, ratio=4, outstanding=8, address_bits=24
)
LOAD, STORE, ATOMIC = PacketKind.LOAD, PacketKind.STORE, PacketKind.ATOMIC

MEMORIES = {
    "at-once": MemoryKnobs(),
    "slow": MemoryKnobs(read_latency=(9, 9), write_latency=(5, 5)),
    "reordering": MemoryKnobs(read_latency=(0, 20), write_latency=(0, 10), reorder=0.7),
    "back-pressure": MemoryKnobs(read_latency=(0, 3), write_latency=(0, 3), ready=0.3),
    "errors": MemoryKnobs(
        read_latency=(0, 8), write_latency=(0, 8), reorder=0.5, read_error=0.2, write_error=0.2
    ),
}


@pytest.mark.parametrize(
    ("memory", "entries"),
    later_but(
        lambda each: each[1] == 3,
        itertools.product(MEMORIES, (1, 3, 12)),
    ),
)
def test_random_packets(memory, entries):
    rng = random.Random(f"{memory} {entries}")
    region = a_region(TINY)
    bench = BankBench(TINY, region, knobs=MEMORIES[memory], seed=f"{memory} {entries}")
    bench.run(random_packets(TINY, region, rng, 300, entries=entries))
    if entries > 1:  # with one entry nearly all is forwarded, and reads are few
        assert (bench.counts["metadata_read_errors"] > 0) == (memory == "errors")
    assert (bench.counts["metadata_write_errors"] > 0) == (memory == "errors")
    assert bench.counts["reports_dropped"] == 0


@pytest.mark.campaign
def test_a_large_gpu():
    """As many SMs, blocks and warps as today's largest; the entry has not one bit left."""
    params = ScordParams(
        sm_count=144, blocks_per_sm=32, warps_per_sm=64, ratio=8, outstanding=8, address_bits=48
    )
    assert params.entry_layout_bits == 64
    region = a_region(params)
    bench = BankBench(params, region, knobs=MEMORIES["reordering"], seed="large")
    last = params.block_id(136, 0)
    bench.run(
        [
            packet._replace(block=last | packet.block, warp=32 | packet.warp)
            for packet in random_packets(params, region, random.Random("large"), 200)
        ]
    )


def test_packets_with_gaps_and_slow_reports():
    rng = random.Random("gaps")
    region = a_region(TINY)
    bench = BankBench(TINY, region, knobs=MEMORIES["reordering"], put=0.4, report_ready=0.5)
    steps = bench.run(random_packets(TINY, region, rng, 500, fences=0.4))
    assert {step.row for step in steps} == set(TableRow) - {TableRow.NONE}


GEOMETRIES = [
    {name: count}
    for name in ("sm_count", "blocks_per_sm", "warps_per_sm")
    for count in (1, 3, 4, 5)
] + [
    {"ratio": 1},
    {"ratio": 16, "granularity": 16},
    {"ratio": 1, "granularity": 8},
    {"fence_id_bits": 2, "barrier_id_bits": 2},
    {"slot_generation_bits": 1},
    {"slot_generation_bits": 6, "ratio": 1, "sm_count": 1},
    {"outstanding": 4, "packet_fifo_depth": 2},
    {"outstanding": 16, "packet_fifo_depth": 3, "report_fifo_depth": 3},
    {"address_bits": 64, "pc_bits": 8},
    {"local_bytes": 256},
    {"merge_in_flight": False},
    {"valid_segments": 64},
    {"valid_segments": 64, "merge_in_flight": False, "ratio": 1},
    {"valid_segments": 64, "local_bytes": 1024},
]  # fmt: skip


#: In `make test`: an odd one of each kind of count, and what has logic of its own.
_SOON = [
    *({name: 5} for name in ("sm_count", "blocks_per_sm", "warps_per_sm")),
    {"ratio": 16, "granularity": 16},
    {"slot_generation_bits": 6, "ratio": 1, "sm_count": 1},
    {"outstanding": 16, "packet_fifo_depth": 3, "report_fifo_depth": 3},
    {"address_bits": 64, "pc_bits": 8},
    {"merge_in_flight": False},
    {"valid_segments": 64, "local_bytes": 1024},
]


@pytest.mark.parametrize("settings", later_but(_SOON.__contains__, GEOMETRIES), ids=str)
def test_geometries(settings):
    base = {"sm_count": 2, "blocks_per_sm": 2, "warps_per_sm": 4, "ratio": 4, "outstanding": 8}
    params = ScordParams(**(base | {"address_bits": 32} | settings))
    rng = random.Random(str(settings))
    region = a_region(params, extra_log2=1)
    bench = BankBench(params, region, knobs=MEMORIES["reordering"], seed=str(settings))
    bench.run(random_packets(params, region, rng, 120))


@pytest.mark.parametrize("bank", later_but(lambda bank: bank == 3, [0, 1, 3]))
def test_banks(bank):
    """A bank initialises and writes its own entries only."""
    params = ScordParams(banks=4, outstanding=8, sm_count=2)
    rng = random.Random(f"bank {bank}")
    region = a_region(params)
    bench = BankBench(params, region, bank=bank, knobs=MEMORIES["slow"])
    bench.run(random_packets(params, region, rng, 150, bank=bank))
    assert {(write.address - region.metadata_base) // 8 % 4 for write in bench.memory.writes} == {
        bank
    }


@pytest.mark.parametrize("size_log2", ["smallest", "largest"])
def test_first_and_last_word(size_log2):
    """Ends of the region, the words just outside, and ends of the address space."""
    params = ScordParams(address_bits=16, ratio=4, outstanding=8, sm_count=2)
    size = {"smallest": params.min_region_log2, "largest": params.max_region_log2}[size_log2]
    region = Region(1 << size, size, 0)
    first, last = region.data_base // 4, (2 * region.data_base - 1) // 4
    beyond = {0, first - 1, min(last + 1, (1 << 14) - 1), (1 << 14) - 1}
    words = [first, last, *sorted(beyond), first, last]
    bench = BankBench(params, region)
    if size_log2 == "largest":
        # Initialising 2**11 entries a cycle each is the point of another test.
        assert region.entries(params) == 1 << 11
    steps = bench.run([access(STORE, word) for word in words])
    rows = [step.row for step in steps]
    assert [row == TableRow.UNMONITORED for row in rows] == [
        not region.contains(word * 4) for word in words
    ]


# Hazards ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("memory", "distance"),
    later_but(
        lambda each: each[0] == "at-once",
        itertools.product(("at-once", "slow", "reordering"), range(1, 10)),
    ),
)
def test_hazard_distance(distance, memory):
    """The same entry again after ``distance`` packets, to one beyond the window."""
    region = a_region(TINY, extra_log2=4)
    rng = random.Random(f"{distance} {memory}")
    packets = []
    for number in range(12 * distance):
        word = word_of(TINY, region, number % distance)
        kind = rng.choice([LOAD, LOAD, STORE, ATOMIC])
        packets.append(access(kind, word, rng.randrange(4), rng.randrange(2)))
    BankBench(TINY, region, knobs=MEMORIES[memory], seed=str(distance)).run(packets)


@pytest.mark.parametrize(
    ("scope", "gap"),
    later_but(
        lambda each: each[0] == Scope.BLOCK or not each[1], itertools.product(Scope, range(5))
    ),
)
def test_fence_between_accesses(scope, gap):
    """A fence counts for the very next access and for none before it."""
    region = a_region(TINY)
    word, elsewhere = (word_of(TINY, region, index) for index in (0, 5))
    filler = [access(STORE, elsewhere, 3, 3)] * gap
    packets = []
    store, owner_fence = access(STORE, word), fence(0, 0, scope)
    for block, warp in ((0, 1), (1, 0), (2, 0)):
        load = access(LOAD, word, block, warp)
        packets += [
            store, *filler, owner_fence, *filler, load,
            store, owner_fence, owner_fence, load,
            load, fence(block, warp, scope), store,
            owner_fence,
        ]  # fmt: skip
    BankBench(TINY, region).run(packets)


def test_fences_wrap():
    """64 device fences look like none; 63 do not."""
    params = ScordParams(outstanding=8, sm_count=2)
    region = a_region(params)
    word = word_of(params, region, 0)
    races = []
    for count in (63, 64):
        packets = [access(STORE, word), *[fence()] * count, access(LOAD, word, 1)]
        races.append(BankBench(params, region).run(packets)[-1].race)
    assert [bool(race) for race in races] == [False, True]


def test_unchanged_entries_are_not_written():
    region = a_region(TINY)
    word = word_of(TINY, region, 1)
    packets = [access(STORE, word)] * 10 + [access(LOAD, word, 1)] * 10
    bench = BankBench(TINY, region)
    bench.run(packets)
    accesses = len(packets) - bench.unchanged
    assert bench.unchanged > 15
    assert len(bench.memory.writes) == region.entries(TINY) + accesses


def test_fences_touch_no_entry():
    """Also in a region with word 0, which is what a fence's packet has there."""
    region = Region(0, TINY.min_region_log2 + 1, 0x1238)
    packets = [access(STORE, 0), fence(), fence(1, 1, Scope.BLOCK), access(LOAD, 0, 1), fence()] * 4
    bench = BankBench(TINY, region)
    steps = bench.run(packets)
    assert [step.row == TableRow.FENCE for step in steps] == [False, True, True, False, True] * 4


def test_entry_after_a_read_error_is_written():
    """Even where it is 0, as the entry that was not read is said to have been."""
    region = a_region(TINY)
    packets = [
        access(LOAD, word_of(TINY, region, index), strong=0)
        for index in range(region.entries(TINY))
    ]
    bench = BankBench(TINY, region, knobs=MemoryKnobs(read_error=1.0))
    steps = bench.run(packets)
    for step in steps:
        assert step.read_error
        assert step.before == step.after == 0
    assert set(bench.memory.words.values()) == {0}


# Structure ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    later_but(
        lambda settings: not settings,
        [{}, {"outstanding": 4, "ratio": 1}, {"merge_in_flight": False}],
    ),
    ids=str,
)
def test_no_path_from_valid_to_ready(settings):
    assert valid_to_ready_paths(DetectorBank(ScordParams(**settings))) == []


def test_trace_port_is_optional():
    ports = DetectorBank(ScordParams(trace_port=False)).signature.members
    assert "trace" not in ports
