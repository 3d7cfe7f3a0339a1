"""Collector against the golden one: rows, clocks, races and counters, as it takes its items."""

from dataclasses import replace

import pytest
from amaranth.back import rtlil

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.events import (
    DataRegion,
    Event,
    EventKind,
    Geometry,
    MemoryOrder,
    TraceHeader,
)
from racetrap.golden_model.trace import Trace
from racetrap.rtl.causality.collector import Collector
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.campaign import later_but
from tests.support.causality.collector_bench import CollectorBench, items_of
from tests.support.causality.judged import params_for
from tests.support.causality.random_items import RandomItems
from tests.support.causality.random_traces import random_program, random_run
from tests.support.planted_bugs import modules_with

_SMALL = CausalityParams(
    sm_count=2, blocks_per_sm=2, warps_per_sm=4, banks=2, clock_bits=9, hash_bits=16,
    address_bits=20, pc_bits=8,
)  # fmt: skip
_FEW_WARPS = {"blocks_per_sm": 1, "warps_per_sm": 3}
_SIZES = {
    "default": {},
    "bits alone": {"known": 0, "pending": 0, "seen": 0},
    "four places": {"known": 4, "pending": 4, "seen": 4},
    "one bit": {"hash_bits": 1, "known": 1, "pending": 1, "seen": 1},
    "lockstep": {"independent_threads": False},
    "one bank": {"banks": 1},
    "three SMs": {"sm_count": 3, "blocks_per_sm": 1, "warps_per_sm": 3},
}
#: Random traces that have, together, every kind of notice and of marker.
_TRACES = [
    (random_run, 7), (random_program, 99), (random_run, 77), (random_program, 104),
    (random_run, 90), (random_run, 51), (random_run, 116),
]  # fmt: skip


def _random(params, items_seed, count, **settings):
    items = RandomItems(params, items_seed)
    return CollectorBench(params, [items.launch(count), items.launch(count // 2)], **settings)


@pytest.mark.parametrize("size", later_but("lockstep".__eq__, _SIZES))
def test_random_items(size):
    bench = _random(replace(_SMALL, **_SIZES[size]), size, 40, seed=size)
    bench.run()
    assert bench.counts["races_warp_barrier"]


@pytest.mark.campaign
@pytest.mark.parametrize("size", _SIZES)
@pytest.mark.parametrize("seed", range(6))
def test_more_random_items(size, seed):
    params = replace(_SMALL, **_SIZES[size])
    bench = _random(params, seed, 150, seed=seed or None, in_order=seed % 2)
    bench.run()
    assert bench.counts["clock_wraps"] == 2


@pytest.mark.parametrize(("make", "seed"), later_but((random_run, 51).__eq__, _TRACES))
@pytest.mark.parametrize("form", later_but("".__eq__, ["", "wraps"]))
def test_random_traces(make, seed, form):
    trace = next(make(seed))
    settings = {"clock_bits": 4} if form else {"ratio": 64}
    params = replace(
        params_for(trace, banks=2, **settings),
        independent_threads=bool(trace.header.independent_threads),
    )
    bench = CollectorBench(params, [items_of(trace, params)], seed=seed, in_order=True)
    bench.run()


def test_barriers_at_which_no_warp_waits_let_the_sm_go_on():
    """Whether warps have arrived there or not."""
    place = {"sm": 1, "slot": 1}
    barrier = Event(EventKind.PARTIAL_BARRIER, **place, grid_block=1)
    arrivals = [
        Event(EventKind.BARRIER_ARRIVE, **place, warp=warp, grid_block=1) for warp in (1, 3)
    ]
    fence = Event(EventKind.FENCE, **place, warp=2)
    events = [
        Event(EventKind.KERNEL_BEGIN), Event(EventKind.BLOCK_PLACED, **place, warp=1, warp_count=3),
        barrier, fence, *arrivals, barrier, fence, Event(EventKind.BLOCK_RETIRED, **place),
        Event(EventKind.KERNEL_END),
    ]  # fmt: skip
    header = TraceHeader(geometry=Geometry(2, 2, 4), region=DataRegion(0, 13))
    trace = Trace.from_events(header, events)
    bench = CollectorBench(_SMALL, [items_of(trace, _SMALL)], seed=3)
    bench.run()


@pytest.mark.parametrize("order", [MemoryOrder.IMPLIED, MemoryOrder.RELEASE])
def test_a_fence_is_settled_in_three_cycles(order):
    """If others wait behind it, and it takes nothing in."""
    params = replace(_SMALL, sm_count=8)
    place = [{"sm": sm, "slot": 0} for sm in range(8)]
    events = [
        Event(EventKind.KERNEL_BEGIN),
        *(Event(EventKind.BLOCK_PLACED, **each, warp=0, warp_count=2) for each in place),
        *(Event(EventKind.FENCE, **each, warp=n % 2, order=order) for n in range(8)
          for each in place),
        *(Event(EventKind.BLOCK_RETIRED, **each) for each in place), Event(EventKind.KERNEL_END),
    ]  # fmt: skip
    header = TraceHeader(geometry=Geometry(8, 2, 4), region=DataRegion(0, 13))
    bench = CollectorBench(params, [items_of(Trace.from_events(header, events), params)])
    bench.run()
    spacing = [cycles for cycles, _ in bench.cycles["FENCE"]]
    assert sorted(spacing[16:])[len(spacing) // 2] == 3, spacing


def test_tables_that_are_too_large_are_refused():
    with pytest.raises(ValueError, match="known must be at most 4 in hardware, not 5"):
        Collector(CausalityParams(known=5))


@pytest.mark.parametrize("settings", later_but(lambda settings: settings["sm_count"] == 1, [
    {"sm_count": 1, "blocks_per_sm": 1, "warps_per_sm": 1}, {"sm_count": 3, "warps_per_sm": 7},
    {"sm_count": 5, "warps_per_sm": 9, "banks": 4},
    {"sm_count": 80, "warps_per_sm": 64, "banks": 8},
]))  # fmt: skip
def test_elaborates(settings):
    assert "o_report" in rtlil.convert(Collector(CausalityParams(**settings)))


_FILES = [
    f"causality/{name}.py"
    for name in (
        "knowledge_table", "race_encoder", "marker_gate", "learning", "collector_phases",
        "barrier_phases", "meeting_phases", "marker_phases", "flags", "collector_work",
        "row_outlet", "collector_sweep", "collector_taking", "collector_walk", "collector",
    )
]  # fmt: skip
#: File, what stands in it and what instead.
_PLANTED = {
    "marker passes a bank": Patch(
        "causality/marker_gate.py", "passed == params.banks", "passed == 1"
    ),
    "branch waits for banks": Patch(
        "causality/marker_gate.py", "~waits | (has_passed & ~is_held & ~self.i_hold)",
        "has_passed & ~is_held & ~self.i_hold",
    ),
    "lane races with itself": Patch(
        "causality/race_encoder.py", "(is_other & ~is_one)", "(is_other & is_one)"
    ),
    "flag of a release lacks it": Patch(
        "causality/race_encoder.py", "is_flag & side.released)", "is_flag & side.handed)"
    ),
    "older block's access is of this one": Patch(
        "causality/race_encoder.py", "side.clock >= self.i_start", "side.clock != 0"
    ),
    "message of a block reaches another": Patch(
        "causality/meeting_phases.py", '"far", known, 1)', '"here", known, 1)'
    ),
    "unknown word is known": Patch(
        "causality/meeting_phases.py", "latest_clock + 1", "latest_clock"
    ),
    "fence takes no other block's in": Patch(
        "causality/marker_phases.py", "acquires & device & far", "acquires & ~device & far"
    ),
    "arrival is a message": Patch(
        "causality/barrier_phases.py", "barrier.clock, barrier.other_waits", "barrier.clock, 1"
    ),
    "direct entry stays direct": Patch(
        "causality/learning.py", "source.direct & keeps", "source.direct"
    ),
    "block starts with what its slot knew": Patch(
        "causality/marker_phases.py", 'for name in ("know", "here")]', 'for name in ("here",)]'
    ),
    "own entry stays": Patch(
        "causality/collector_phases.py", "mine[: number + 1].any()", "Const(0, 1)"
    ),
    "warp meets itself": Patch("causality/collector_walk.py", "everybody & ~own", "everybody"),
    "reader is forgotten": Patch(
        "causality/collector_walk.py", "routine[Routine.WRITER] & reader.bytes.any()", "Const(0, 1)"
    ),
    "no flag is found": Patch(
        "causality/flags.py", "(keeps & ~kept.valid) | is_found", "(keeps & ~kept.valid)"
    ),
    "any flag is found": Patch("causality/flags.py", "(kept.race.word == packet.word) &", ""),
    "flag that is found in shared memory": Patch(
        "causality/flags.py", "& (kept.race.shared == packet.shared)", ""
    ),
    "displaced message finds no flag": Patch(
        "causality/flags.py", "(meeting.before.message.any() | meeting.notice.unknown)",
        "meeting.before.message.any()",
    ),
    "wrap keeps what is known": Patch(
        "causality/collector_sweep.py", 'kept = ("block",', 'kept = ("know", "block",'
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", later_but("lane races with itself".__eq__, _PLANTED))
def test_planted_bug_is_found(name):
    component = modules_with(_FILES, _PLANTED[name])["causality/collector.py"].Collector
    with pytest.raises((AssertionError, TimeoutError)) as caught:
        _run_several(component)
    print(f"{name}: {caught.value}")


def _run_several(component):
    for seed in range(5):
        params = replace(_SMALL, **_FEW_WARPS, independent_threads=bool(seed % 2))
        _random(params, seed, 120, seed=seed, component=component).run(cycles=20_000)
