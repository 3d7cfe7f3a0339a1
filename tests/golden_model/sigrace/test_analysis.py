"""Analysis: which conflicts go together, the modes of the core unit, traps and races."""

import pytest

from racetrap.golden_model.happens_before.epoch_index import CollectedAccess
from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace
from racetrap.golden_model.sigrace.analysis import (
    Hit,
    analysis_events,
    hits,
    plan_passes,
    races_of,
)
from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.packets import Conflict, LogEntry, Mode
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.signature import signature_of_granules

PARAMS = SigraceParams(threads=3, cores=3)


def conflict(thread, timestamp, other, other_timestamp, signature=1):
    return LogEntry(thread, other, Conflict.WRITE_WRITE, timestamp, other_timestamp, signature)


def test_conflicts_of_the_same_epochs_share_a_pass_and_their_signatures_join():
    entries = [
        conflict(0, (1, 0, 0), 1, (0, 1, 0), 0b001),
        conflict(1, (0, 1, 0), 0, (1, 0, 0), 0b010),
        conflict(0, (1, 0, 0), 2, (0, 0, 1), 0b100),
    ]
    (only,) = plan_passes(entries)
    assert only.entries == entries
    assert only.stops == {0: (1, 0, 0), 1: (0, 1, 0), 2: (0, 0, 1)}
    assert only.signatures == {0: 0b111, 1: 0b011, 2: 0b100}


def test_two_epochs_of_one_thread_need_two_passes():
    entries = [
        conflict(0, (1, 0, 0), 1, (0, 1, 0)),
        conflict(0, (2, 0, 0), 1, (0, 1, 0)),
        conflict(0, (1, 0, 0), 2, (0, 0, 1)),
    ]
    first, second = plan_passes(entries)
    assert (first.entries, second.entries) == ([entries[0], entries[2]], [entries[1]])


def test_ordered_stops_need_two_passes():
    """Thread 2 at its stop knows of an epoch of thread 0 beyond the other stop."""
    entries = [conflict(0, (1, 0, 0), 1, (0, 1, 0)), conflict(1, (0, 1, 0), 2, (2, 0, 1))]
    assert [each.entries for each in plan_passes(entries)] == [entries[:1], entries[1:]]


def test_core_unit_stands_at_the_epoch_in_analysis_mode():
    signature = signature_of_granules(PARAMS, [0x1000, 0xFFFF_FFFC])
    unit = CoreUnit(PARAMS)
    for event in analysis_events(PARAMS, 2, (3, 5, 7), signature):
        unit.take(event)
    assert (unit.thread, unit.timestamp, unit.trt) == (2, [3, 5, 7], [3, 5, 7])
    assert (unit.mode, unit.is_conflicting, unit.collecting) == (Mode.ANALYSIS, True, True)
    assert unit.conflict_signature == signature
    assert unit.blocks == []


@pytest.mark.parametrize("form", ["sets", "hashed"])
def test_hits_have_the_whole_address_and_pc(form):
    params = SigraceParams(threads=3, cores=3, form=form, pc_bits=8, trap_depth=1)
    signature = signature_of_granules(params, [0x1000, 0x2004, 0x0, 0x4])
    setup = analysis_events(params, 1, (0, 1, 0), signature)
    accesses = [
        CollectedAccess(1, 0x1001, 1, 0x1234, False),
        CollectedAccess(2, 0x2001, 8, 0x1238, True),
        CollectedAccess(3, 0x3000, 16, 0x123C, True),
        CollectedAccess(4, 0x7F00_FFFF_FFFE, 8, 0x1240, True),
    ]
    assert list(hits(CoreUnit(params), setup, accesses)) == [
        Hit(1, 0x1000, 0x1234, False, 0b0010),
        # An alias: a signature stands for all combinations.
        Hit(2, 0x2000, 0x1238, True, 0b1110),
        Hit(2, 0x2004, 0x1238, True, 0b1111),
        Hit(4, 0x7F01_0000_0000, 0x1240, True, 0b1111),
        Hit(4, 0x7F01_0000_0004, 0x1240, True, 0b0011),
    ]


def test_races_need_one_granule_two_threads_and_a_write():
    load, store = RaceParty(0, 1, 0x40, False), RaceParty(0, 1, 0x44, True)
    other_load, other_store = RaceParty(1, 1, 0x48, False), RaceParty(2, 1, 0x4C, True)
    a, b, later = (0x1000, 0, 15), (0x1004, 0, 15), (0x1000, 1, 15)
    none = (set(), set())
    assert races_of({load: {a}, other_load: {a}}) == none
    assert races_of({load: {a}, store: {a}}) == none
    assert races_of({store: {a}, other_load: {b}}) == none
    assert races_of({store: {a}, other_load: {later}}) == none
    races, false_sharing = races_of({
        load: {a}, store: {a}, other_load: {a, b}, other_store: {b},
    })  # fmt: skip
    assert races == {
        ThreadRace.of(0x1000, store, other_load),
        ThreadRace.of(0x1004, other_store, other_load),
    }
    assert not false_sharing


def test_races_need_a_common_byte():
    store, load = RaceParty(0, 1, 0x44, True), RaceParty(1, 1, 0x48, False)
    low, high, middle = (0x1000, 0, 0b0011), (0x1000, 0, 0b1100), (0x1000, 0, 0b0110)
    race = ThreadRace.of(0x1000, store, load)
    assert races_of({store: {low}, load: {high}}) == (set(), {race})
    assert races_of({store: {low}, load: {high, middle}}) == ({race}, set())
