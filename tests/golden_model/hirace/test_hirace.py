"""The whole model: what orders two threads, and what does not."""

from dataclasses import replace

import pytest

from racetrap.golden_model.events import Event, EventKind, Scope, Space
from racetrap.golden_model.gpu.entry_locator import entry_of
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.hirace.hirace import Hirace
from racetrap.golden_model.hirace.packets import Packet, RaceKind
from racetrap.golden_model.hirace.report import RaceReport
from racetrap.golden_model.hirace.states import State

_LOAD, _STORE, _ATOMIC = EventKind.LOAD, EventKind.STORE, EventKind.ATOMIC
_HERE, _NEXT_WARP, _NEXT_BLOCK, _FAR = (0, 0, 0), (0, 0, 1), (0, 1, 2), (1, 0, 0)
_BARRIER = Event(EventKind.BARRIER, 0, 0)
_WARP_BARRIER = Event(EventKind.WARP_BARRIER, 0, 0, 0)
_FENCE = Event(EventKind.FENCE, 0, 0, 0, Scope.DEVICE)


@pytest.mark.parametrize(
    ("place", "between", "ordered"),
    [
        (_HERE, [_WARP_BARRIER], True),
        (_HERE, [_BARRIER], True),
        (_HERE, [], False),
        (_HERE, [_FENCE], False),
        (_NEXT_WARP, [_BARRIER], True),
        (_NEXT_WARP, [_WARP_BARRIER], False),
        (_NEXT_WARP, [Event(EventKind.WARP_BARRIER, 0, 0, 1)], False),
        (_NEXT_BLOCK, [_BARRIER], False),
        (_FAR, [_BARRIER, Event(EventKind.BARRIER, 1, 0)], False),
    ],
)
def test_what_orders_a_write_before_the_read_of_another_thread(
    access, races, place, between, ordered
):
    run = [access(_STORE, _HERE, [(3, 0x40)]), *between, access(_LOAD, place, [(4, 0x40)])]
    assert races(run) == ([] if ordered else [RaceKind.READ_AFTER_WRITE])


def test_thread_is_ordered_with_itself(access, races):
    kinds = (_STORE, _LOAD, _ATOMIC, _STORE)
    assert races(access(kind, _HERE, [(3, 0x40)]) for kind in kinds) == []


def test_lanes_of_one_store_to_one_word_race(access, races):
    assert races([access(_STORE, _HERE, [(0, 0x40), (1, 0x40), (2, 0x44)])]) == [
        RaceKind.WRITE_AFTER_WRITE
    ]


def test_every_word_of_a_wide_access_is_checked(access, races):
    run = [access(_STORE, _HERE, [(0, 0x40)], size=16)]
    run += [access(_LOAD, _FAR, [(0, 0x40 + 4 * word)]) for word in range(-1, 5)]
    assert len(races(run)) == 4


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (Scope.DEVICE, Scope.DEVICE, []),
        (Scope.BLOCK, Scope.DEVICE, [RaceKind.SCOPED_ATOMIC]),
        (Scope.DEVICE, Scope.BLOCK, [RaceKind.SCOPED_ATOMIC]),
    ],
)
def test_atomics_of_two_blocks_need_the_scope_of_the_device(access, races, first, second, expected):
    run = [access(_ATOMIC, _HERE, [(0, 0x40)], scope=first),
           access(_ATOMIC, _FAR, [(0, 0x40)], scope=second)]  # fmt: skip
    assert races(run) == expected


def test_atomics_of_a_block_may_have_its_scope(access, races):
    assert races([access(_ATOMIC, place, [(0, 0x40)]) for place in (_HERE, _NEXT_WARP)]) == []


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (_ATOMIC, _LOAD, RaceKind.PLAIN_AFTER_ATOMIC),
        (_ATOMIC, _STORE, RaceKind.PLAIN_AFTER_ATOMIC),
        (_LOAD, _ATOMIC, RaceKind.ATOMIC_AFTER_PLAIN),
        (_STORE, _ATOMIC, RaceKind.ATOMIC_AFTER_PLAIN),
        (_LOAD, _STORE, RaceKind.WRITE_AFTER_READ),
        (_STORE, _STORE, RaceKind.WRITE_AFTER_WRITE),
    ],
)
def test_kind_of_a_race(access, races, first, second, kind):
    run = [access(each, place, [(0, 0x40)], scope=Scope.DEVICE)
           for each, place in ((first, _HERE), (second, _FAR))]  # fmt: skip
    assert races(run) == [kind]


def test_block_that_takes_the_slot_of_another_is_another(access, races):
    run = [access(_STORE, _HERE, [(0, 0x40)]), _BARRIER,
           Event(EventKind.BLOCK_PLACED, 0, 0, 0, warp_count=1),
           access(_LOAD, _HERE, [(0, 0x40)])]  # fmt: skip
    assert races(run) == [RaceKind.READ_AFTER_WRITE]


def test_generations_wrap(access, races):
    placed = Event(EventKind.BLOCK_PLACED, 0, 0, 0, warp_count=1)
    run = [access(_STORE, _HERE, [(0, 0x40)]), *[placed] * 4, access(_LOAD, _HERE, [(0, 0x40)])]
    assert races(run) == []


@pytest.mark.parametrize(
    ("barrier", "bits"), [(_BARRIER, "barrier_bits"), (_WARP_BARRIER, "warp_barrier_bits")]
)
def test_counts_of_barriers_wrap(access, params, races, barrier, bits):
    store, load = access(_STORE, _HERE, [(0, 0x40)]), access(_LOAD, _HERE, [(1, 0x40)])
    turn = 1 << getattr(params, bits)
    assert races([store, *[barrier] * (turn - 1), load]) == []
    assert races([store, *[barrier] * turn, load]) == [RaceKind.READ_AFTER_WRITE]


def test_launch_forgets_everything(access, races):
    run = [access(_STORE, _HERE, [(0, 0x40)]), Event(EventKind.KERNEL_BEGIN),
           access(_LOAD, _FAR, [(0, 0x40)])]  # fmt: skip
    assert races(run) == []


def test_word_begins_anew_after_a_race_or_stays(access, params, races):
    run = [access(_STORE, place, [(0, 0x40)]) for place in (_HERE, _FAR, _HERE)]
    assert len(races(run)) == 2
    assert len(races(run, replace(params, begin_anew=False))) == 1


def test_shared_memory_is_each_blocks_own(access, races):
    def run(place):
        return [access(_STORE, each, [(0, 0x3C)], space=Space.SHARED) for each in (_HERE, place)]

    assert races(run(_NEXT_WARP)) == [RaceKind.WRITE_AFTER_WRITE]
    assert races(run(_NEXT_BLOCK)) == races(run(_FAR)) == []


def test_shared_memory_behind_the_window_is_not_watched(access, params):
    hirace = Hirace(params, Region(0, 12))
    (step,) = hirace.run(access(_STORE, _HERE, [(0, 0x40)], space=Space.SHARED))
    assert not step.monitored
    assert hirace.counters["unmonitored"] == 1
    unwatched = Hirace(replace(params, shared_bytes=0), Region(0, 12))
    assert unwatched.run(access(_STORE, _HERE, [(0, 0x40)], space=Space.SHARED)) == []


def test_each_word_has_an_entry_of_its_own(params):
    region, blocks = Region(0x1000, 12), range(1 << params.block_bits)
    packets = [_packet(0, 0, 0x1000 + address >> 2) for address in range(0, 4096, 4)]
    packets += [_packet(1, block, word) for block in blocks for word in range(16)]
    entries = [entry_of(params, region, packet) for packet in packets]
    assert len(set(entries)) == len(entries)
    assert set(entries) <= set(region.indices(params))
    assert entry_of(params, region, _packet(0, 0, 0x2000 >> 2)) is None


def _packet(shared: int, block: int, word: int) -> Packet:
    return Packet(0, 0, shared, 0, 0, block, 0, 0, 0, 0, word)


def test_report_names_both_accesses(access, params):
    hirace = Hirace(params, Region(0, 12))
    hirace.run(access(_STORE, (1, 1, 3), [(7, 0x40)]))
    hirace.run(access(_LOAD, _HERE, [(9, 0x40)], pc=0x20))
    (report,) = hirace.unique.values()
    assert (report.address, report.pc, report.race) == (0x40, 0x20, RaceKind.READ_AFTER_WRITE)
    assert (report.block, report.warp, report.lane) == (0, 0, 9)
    owner = (report.owner_block, report.owner_warp, report.owner_lane)
    assert owner == (params.block_id(1, 1), 3, 7)
    assert State(report.state) is State.WRITE
    assert RaceReport.from_record(report.record()) == report
    assert "read-after-write (device scope)" in report.sentence()


@pytest.mark.parametrize(
    "event",
    [Event(EventKind.BARRIER, 2), Event(EventKind.BARRIER, 0, 2),
     Event(EventKind.WARP_BARRIER, 0, 0, 4)],
)  # fmt: skip
def test_event_of_a_larger_gpu_is_refused(params, event):
    with pytest.raises(ValueError, match="must be from 0 to"):
        Hirace(params, Region(0, 12)).run(event)
