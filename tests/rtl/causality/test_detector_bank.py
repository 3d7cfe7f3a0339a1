"""Detector bank step by step and notice by notice against the golden bank."""

import itertools
import random

import pytest

from racetrap.golden_model.causality.packets import Against, Packet, PacketKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.detector_bank import DetectorBank
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.campaign import later_but
from tests.support.causality.bank_bench import CausalityBankBench, RandomItems
from tests.support.causality.encounter_bench import FILES
from tests.support.planted_bugs import modules_with
from tests.support.rtl.metadata_memory import MemoryKnobs
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.scord.bank_packets import a_region

_SIZE = {
    "sm_count": 2, "blocks_per_sm": 2, "warps_per_sm": 4, "ratio": 4, "outstanding": 8,
    "address_bits": 24, "shared_bytes": 128,
}  # fmt: skip
TINY = CausalityParams(**_SIZE)
MEMORIES = {
    "at-once": MemoryKnobs(),
    "slow": MemoryKnobs(read_latency=(9, 9), write_latency=(5, 5)),
    "reordering": MemoryKnobs(read_latency=(0, 20), write_latency=(0, 10), reorder=0.7),
    "back-pressure": MemoryKnobs(read_latency=(0, 3), write_latency=(0, 3), ready=0.3),
    "errors": MemoryKnobs(
        read_latency=(0, 8), write_latency=(0, 8), reorder=0.5, read_error=0.2, write_error=0.2
    ),
}


def run(
    params, seed, count=120, *, memory="reordering", entries=3, others=0.2,
    bench=CausalityBankBench, **knobs,
):  # fmt: skip
    """Random items; the bench with what came of them, and the golden steps."""
    rng = random.Random(seed)
    region = a_region(params, metadata_base=0x1240)
    made = RandomItems(params, region, rng, entries, others)
    items = made.make(count // 3)
    items += [made.fence(), *made.make(count // 3), made.new_epoch(), *made.make(count // 3)]
    run = bench(params, region, knobs=MEMORIES[memory], seed=seed, **knobs)
    # At launch and in a new epoch the rows of all warps are swept.
    sweeps = 4 * (params.sm_count << params.warp_bits)
    return run, run.run(items, cycles=20_000 + sweeps)


@pytest.mark.parametrize(
    ("memory", "entries"),
    later_but(
        {("reordering", 3)}.__contains__,
        itertools.product(MEMORIES, (1, 3, 12)),
    ),
)
def test_random_items(memory, entries):
    bench, steps = run(TINY, f"{memory} {entries}", memory=memory, entries=entries)
    assert {step.monitored for step in steps} == {0, 1}
    assert len(bench.reports) > 20
    assert (bench.counts["metadata_write_errors"] > 0) == (memory == "errors")


@pytest.mark.campaign
@pytest.mark.parametrize("independent_threads", [False, True])
def test_volume_of_items(independent_threads):
    params = CausalityParams(**_SIZE, independent_threads=independent_threads)
    for seed in range(10):
        run(params, f"volume {seed}", 900, others=0.3, memory=list(MEMORIES)[seed % 5])


@pytest.mark.parametrize(
    "settings",
    later_but(
        lambda settings: "levels" in settings,
        [
            {"independent_threads": False, "levels": 1, "known": 1},
            {"independent_threads": False},
            {"known": 0, "records": 0, "hash_bits": 1},
            {"known": 3, "records": 3, "ratio": 1, "shared_bytes": 0},
            {"sm_count": 1, "blocks_per_sm": 1, "warps_per_sm": 1},
            {"sm_count": 3, "blocks_per_sm": 5, "warps_per_sm": 5, "banks": 4},
            {"clock_bits": 4, "epoch_bits": 3, "report_fifo_depth": 2},
            {"outstanding": 32, "ratio": 32, "address_bits": 40},
        ],
    ),
    ids=str,
)
def test_configurations(settings):
    run(CausalityParams(**_SIZE | settings), str(settings), others=0.4)


@pytest.mark.campaign
def test_a_large_gpu():
    params = CausalityParams(
        sm_count=80, blocks_per_sm=32, warps_per_sm=64, address_bits=48, outstanding=8,
        shared_bytes=0,
    )  # fmt: skip
    assert params.entry_layout_bits <= 128
    run(params, "large")


# Notices ------------------------------------------------------------------------------------


class LateCollector(CausalityBankBench):
    """A collector that takes nothing at first."""

    @property
    def report_ready(self) -> float:
        """How readily a notice is taken."""
        return 0.0 if self.cycle < 250 else 0.3

    @report_ready.setter
    def report_ready(self, value: float) -> None:
        pass


@pytest.mark.campaign
@pytest.mark.parametrize("depth", [2, 9, 16])
def test_no_notice_is_lost(depth):
    params = CausalityParams(**_SIZE, report_fifo_depth=depth)
    bench, _ = run(params, "late", memory="at-once", others=0, bench=LateCollector)
    assert len(bench.reports) > 60


def _loads(params, region, count, **fields) -> list[Packet]:
    word = region.data_base // 4
    fields = {"strong": 0, "lanes": 1, "clock": 3, "bytes": 15, "size": 2, **fields}
    zero = dict.fromkeys(Packet._fields, 0) | {"kind": PacketKind.LOAD, "word": word}
    return [Packet(**zero | fields)] * count


@pytest.mark.parametrize("unequal", later_but(bool, [0, 1]))
def test_one_access_of_a_word_a_cycle(unequal):
    """Also if the collector must know of every one, as of a store of unequal values."""
    params = CausalityParams(**_SIZE | {"outstanding": 32})
    region = a_region(params, metadata_base=0x1240)
    kind = {"kind": PacketKind.STORE, "writes": 1, "unequal": 1} if unequal else {}
    bench = CausalityBankBench(params, region)
    bench.run(_loads(params, region, 40, **kind))
    cycles = [cycle for cycle, _ in bench.traced]
    assert [after - before for before, after in itertools.pairwise(cycles)] == [1] * 39
    assert len(bench.reports) == 40 * unequal


def barrier_ahead(gap, bench=CausalityBankBench):
    """Steps of a store, a barrier of its lane with another, and that one's load close behind."""
    region = a_region(TINY, metadata_base=0x1240)
    store, barrier, load = (
        _loads(TINY, region, 1, **fields)[0]
        for fields in (
            {"kind": PacketKind.STORE, "writes": 1},
            {"kind": PacketKind.WARP_BARRIER, "lanes": 3, "clock": 4},
            {"lanes": 2, "clock": 4},
        )
    )
    between = [load._replace(block=1, warp=1, word=load.word + 1)] * gap
    steps = bench(TINY, region).run([store, *between, barrier, *between, load], cycles=20_000)
    return steps[0], steps[-1]


@pytest.mark.parametrize("gap", later_but(lambda gap: gap == 0, range(4)))
def test_barrier_counts_for_the_very_next_access(gap):
    store, load = barrier_ahead(gap)
    assert load.before == store.after
    assert load.against == Against.NONE


# Structure ----------------------------------------------------------------------------------


@pytest.mark.campaign
def test_no_path_from_valid_to_ready():
    assert valid_to_ready_paths(DetectorBank(TINY)) == []


BUGS = {
    "result-just-ahead-not-taken": Patch(
        "causality/check_pipeline.py", "Mux(follows, result.entry, request.entry)",
        "request.entry",
    ),
    "result-two-ahead-not-taken": Patch(
        "causality/check_pipeline.py",
        "with m.If(lookup.is_forwarded & self.o_checked.valid & (last.slot == lookup.source)):",
        "with m.If(0):",
    ),
    "older-result-not-taken": Patch(
        "causality/check_pipeline.py",
        "has_left.eq(older_valid & (older.slot == given.source))", "has_left.eq(0)",
    ),
    "fence-forgotten": Patch(
        "causality/detector_bank.py", "m.d.sync += fenced.eq(1)", "m.d.sync += fenced.eq(0)"
    ),
    "row-not-told": Patch(
        "causality/detector_bank.py", "done.payload.row.eq(takes_row)", "done.payload.row.eq(0)"
    ),
    "epoch-while-metadata-are-written": Patch(
        "causality/detector_bank.py", "row.p.epoch & self.o_idle", "row.p.epoch & ~self.o_busy"
    ),
    "took-on-not-told": Patch("causality/check_pipeline.py", "decided.took_on, before.unknown,",
                              "before.unknown,"),
    "epoch-stays": Patch("causality/check_pipeline.py", "epoch.eq(epoch + 1)", "epoch.eq(epoch)"),
    "place-given-back-twice": Patch(
        "causality/check_lane.py", "pipeline.o_leaves & ~pipeline.o_notice.valid",
        "pipeline.o_leaves",
    ),
    "packet-on-the-way-not-counted": Patch("causality/check_lane.py", "free < 2", "free < 1"),
    "change-just-ahead-not-seen": Patch(
        "causality/warp_row.py", "(changes & (packet.warp == following.warp), update.o)",
        "(Const(0), update.o)",
    ),
    "change-two-ahead-not-seen": Patch(
        "causality/warp_row.py",
        "(changed.valid & (changed.warp == following.warp), changed.branch)",
        "(Const(0), changed.branch)",
    ),
    "change-three-ahead-not-seen": Patch(
        "causality/warp_row.py", "(older.valid & (older.warp == following.warp), older.branch)",
        "(Const(0), older.branch)",
    ),
    "row-of-the-packet-behind": Patch(
        "causality/warp_row.py", "row.addr.eq(warp)", "row.addr.eq(self.i_packet.warp)"
    ),
    "lanes-that-met-not-forgotten": Patch(
        "causality/warp_row.py", "row.p.begins | row.p.met", "row.p.begins"
    ),
    "record-that-makes-room-forgotten": Patch(
        "causality/warp_row.py", "with m.If(makes_room & (dropped > self.i.lanes_before)):",
        "with m.If(0):",
    ),
    "window-in-the-lower-half": Patch(
        "causality/entry_locator.py", "decoder.o_index | half", "decoder.o_index"
    ),
    "window-of-all-blocks": Patch(
        "causality/entry_locator.py", "Cat(packet.word[:shift], packet.block)",
        "packet.word[:shift]",
    ),
}  # fmt: skip
_BANK_FILES = [
    *FILES,
    *(f"causality/{name}.py" for name in (
        "check_pipeline", "check_lane", "entry_locator", "detector_bank",
    )),
]  # fmt: skip


@pytest.mark.campaign
@pytest.mark.parametrize("bug", BUGS)
def test_bug_is_found(bug):
    bank = modules_with(_BANK_FILES, BUGS[bug])["causality/detector_bank.py"].DetectorBank

    class Prompt(CausalityBankBench):
        detector = bank

    class Late(LateCollector):
        detector = bank

    def play():
        for gap in range(3):
            assert barrier_ahead(gap, Prompt)[1].against == Against.NONE
        for seed, bench in enumerate([Prompt, Late] * 5):
            run(
                TINY, f"{bug} {seed}", 300, others=0.3, memory="at-once",
                entries=1 + seed % 4, bench=bench,
            )  # fmt: skip

    with pytest.raises((AssertionError, TimeoutError)):
        play()
