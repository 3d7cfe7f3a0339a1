"""Random runs: legal, repeatable, and together they reach every corner of the model."""

from collections import Counter
from dataclasses import replace

import pytest

from racetrap.golden_model.events import DataRegion, EventKind, Geometry, Scope, TraceHeader
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.detection_logic import LOAD_TABLE, STORE_TABLE
from racetrap.golden_model.scord.lock_table import LockTable
from racetrap.golden_model.scord.packets import LockState, PacketKind, RaceKind, TableRow
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.trace import Trace
from racetrap.sim.cosim.scord.knobs import KNOBS, Knobs
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of

TINY = ScordParams(sm_count=2, blocks_per_sm=2, warps_per_sm=4, ratio=4)
SMALLEST = ScordParams(
    sm_count=1, blocks_per_sm=1, warps_per_sm=1, ratio=1, lock_table_depth=1, address_bits=16
)
REGION = Region(data_base=0x2000, size_log2=12)


@pytest.mark.parametrize("name", KNOBS)
@pytest.mark.parametrize("params", [ScordParams(), TINY, SMALLEST], ids=["default", "tiny", "one"])
def test_trace_is_legal(name, params):
    geometry = Geometry(params.sm_count, params.blocks_per_sm, params.warps_per_sm)
    header = TraceHeader(geometry=geometry, region=DataRegion(0x2000, 12), seed=5)
    events = list(random_events(params, REGION, KNOBS[name], 5, 400))
    assert list(Trace.from_events(header, events)) == events


def test_every_bit_of_a_program_counter_is_0_and_1():
    pcs = {event.pc for event in random_events(TINY, REGION, KNOBS["mixed"], 5, 200) if event.pc}
    bits = [{pc >> bit & 1 for pc in pcs} for bit in range(TINY.pc_bits)]
    assert bits == [{0, 1}] * TINY.pc_bits


@pytest.mark.parametrize("data_base", [0, 0x8000])
def test_addresses_fit_at_both_ends_of_memory(data_base):
    region = Region(data_base=data_base, size_log2=15)
    events = random_events(SMALLEST, region, replace(KNOBS["streaming"], outside=0.5), 1, 1000)
    outside = 0
    for event in events:
        for lane in event.lanes:
            assert 0 <= lane.address < 1 << 16
            outside += not region.contains(lane.address)
    assert outside > 100


def test_same_seed_same_run():
    one, same, other = (list(random_events(TINY, REGION, Knobs(), seed, 300)) for seed in (1, 1, 2))
    assert one == same != other


def test_only_stores_and_locks_have_values():
    for event in random_events(TINY, REGION, Knobs(), 1, 1000):
        if event.kind == EventKind.STORE:
            for lane in event.lanes:
                assert lane.value == lane.lane + 1
        elif event.kind == EventKind.LOAD:
            for lane in event.lanes:
                assert not lane.value


def test_strong_loads_and_stores_have_device_scope():
    """As volatile accesses have it; a weak one has no scope."""
    seen = {
        (event.strong, event.scope)
        for event in random_events(TINY, REGION, Knobs(), 1, 1000)
        if event.kind in (EventKind.LOAD, EventKind.STORE)
    }
    assert seen == {(True, Scope.DEVICE), (False, Scope.BLOCK)}


def test_rates_above_one():
    with pytest.raises(ValueError, match=r"Sum of the rates must be at most 1, not 1\.328"):
        random_events(TINY, REGION, Knobs(fences=0.9, locks=0.328, churn=0), 1, 1)


def test_every_row_and_race_is_reached():
    rows, races, conflicts = set(), set(), 0
    for name in ("mixed", "contended", "locks", "atomics", "tags"):
        scord = Scord(TINY, REGION)
        for event in random_events(TINY, REGION, KNOBS[name], 1, 5000):
            rows |= {(step.row, step.packet.kind) for step in scord.run(event)}
        races |= {(race.race, race.race_scope) for race in scord.races}
        conflicts += scord.counters["tag_conflicts"]
    load, store, atomic = PacketKind.LOAD, PacketKind.STORE, PacketKind.ATOMIC
    assert rows == {
        *((rule.row, load) for rule in LOAD_TABLE),
        *((rule.row, store) for rule in STORE_TABLE if rule.row != TableRow.STORE_BOTH_ATOMIC),
        *((rule.row, atomic) for rule in STORE_TABLE),
        *((TableRow.UNMONITORED, kind) for kind in (load, store, atomic)),
        (TableRow.FENCE, PacketKind.FENCE),
    }
    assert races == {
        (RaceKind.MISSING_BLOCK_FENCE, Scope.BLOCK),
        (RaceKind.MISSING_DEVICE_FENCE, Scope.DEVICE),
        (RaceKind.NOT_STRONG, Scope.BLOCK),
        (RaceKind.NOT_STRONG, Scope.DEVICE),
        (RaceKind.SCOPED_ATOMIC, Scope.DEVICE),
        (RaceKind.MISSING_LOCK, Scope.BLOCK),
        (RaceKind.MISSING_LOCK, Scope.DEVICE),
    }
    assert conflicts


def test_every_lock_state_transition_is_reached(monkeypatch):
    transitions = set()
    fence = LockTable.fence

    def spy(table, scope):
        before = list(table.entries)
        fence(table, scope)
        transitions.update(
            (old, int(scope), new) for (_, old), (_, new) in zip(before, table.entries, strict=True)
        )

    monkeypatch.setattr(LockTable, "fence", spy)
    scord = Scord(TINY, REGION)
    full = 0
    for event in random_events(TINY, REGION, KNOBS["locks"], 1, 5000):
        scord.run(event)
        full += any(len(table.entries) == 4 for table in scord.trackers[0].lock_tables)
    assert len(transitions) == 2 * (len(LockState) - 1)
    assert full


def test_wraps_preset_brings_counters_round():
    fences, barriers = Counter(), Counter()
    for event in random_events(TINY, REGION, KNOBS["wraps"], 1, 1000):
        if event.kind == EventKind.FENCE:
            fences[event.sm, event.slot, event.warp, event.scope] += 1
        elif event.kind == EventKind.BARRIER:
            barriers[event.sm, event.slot] += 1
    assert max(fences.values()) > 64
    assert max(barriers.values()) > 256


def test_transactions_are_those_of_the_events():
    events = list(random_events(TINY, REGION, Knobs(), 3, 200))
    by_event, by_transaction = Scord(TINY, REGION), Scord(TINY, REGION)
    steps = [step for event in events for step in by_event.run(event)]
    transactions = list(transactions_of(events, TINY))
    assert steps == [s for sm, t in transactions for s in by_transaction.transact(sm, t)]
