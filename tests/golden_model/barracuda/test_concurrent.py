"""Races between kernels and copies that no stream, event or wait of the host orders."""

import pytest

from racetrap.golden_model.barracuda import RaceClass, RaceKind, ScopedOracle
from racetrap.golden_model.events import AtomicOp, Event, EventKind, Lane, Scope, Space
from racetrap.golden_model.trace import Trace
from tests.support.oracle.random_traces import HEADER

_PC, _OTHER_PC = 0x1000, 0x2000


def _kernel(stream, *accesses):
    return [
        Event(EventKind.KERNEL_BEGIN, grid_block=stream),
        Event(EventKind.BLOCK_PLACED, warp_count=1, grid_block=3),
        *accesses,
        Event(EventKind.BLOCK_RETIRED),
        Event(EventKind.KERNEL_END),
    ]


def _access(kind, address=0x100, pc=_PC, lane=0, size=4, **fields):
    return Event(kind, pc=pc, size=size, lanes=(Lane(lane, address),), **fields)


def _store(address=0x100, pc=_PC, **fields):
    return _access(EventKind.STORE, address, pc, **fields)


def _load(address=0x100, pc=_OTHER_PC, **fields):
    return _access(EventKind.LOAD, address, pc, **fields)


def _atomic(scope, pc=_PC):
    return _access(EventKind.ATOMIC, pc=pc, strong=True, scope=scope, op=AtomicOp.OTHER)


def _copy(kind, stream, *ranges, pc=_OTHER_PC):
    lanes = tuple(Lane(number, *each) for number, each in enumerate(ranges))
    return [Event(kind, pc=pc, lanes=lanes, grid_block=stream)]


def _races(*parts):
    return list(ScopedOracle().run(Trace.from_events(HEADER, [e for part in parts for e in part])))


def test_a_race_between_kernels_of_two_streams():
    (race,) = _races(_kernel(1, _store(lane=4)), _kernel(2, _load(lane=9)))
    assert (race.kind, race.race_class) == (RaceKind.UNORDERED, RaceClass.INTER_LAUNCH)
    assert (race.address, race.kernel, race.space) == (0x100, 1, Space.GLOBAL)
    assert (race.first.pc, race.first.thread, race.first.grid_block) == (_PC, 4, 3)
    assert (race.second.pc, race.second.thread) == (_OTHER_PC, 9)
    assert (race.first.event, race.second.event) == (2, 7)


@pytest.mark.parametrize(
    "parts",
    [
        (_kernel(1, _store()), _kernel(1, _load())),
        (_kernel(1, _store()), [Event(EventKind.AFTER)], _kernel(2, _load())),
        (_kernel(1, _load(pc=_PC)), _kernel(2, _load())),
        (_kernel(1, _store()), _kernel(2, _load(0x104))),
        (_kernel(1, _store(size=1)), _kernel(2, _load(0x101, size=1))),
        (_kernel(1, _atomic(Scope.DEVICE)), _kernel(2, _atomic(Scope.DEVICE, _OTHER_PC))),
        (_kernel(1, _store(space=Space.SHARED)), _kernel(2, _load(space=Space.SHARED))),
        (_kernel(1, _store()), _copy(EventKind.COPY_READ, 2, (0x80, 0x80), (0x104, 8))),
        (_copy(EventKind.COPY_READ, 1, (0, 999)), _copy(EventKind.COPY_READ, 2, (0, 999))),
        (_kernel(1), _kernel(2, _load())),
    ],
    ids=[
        "one stream", "after", "loads", "other words", "other bytes", "atomics", "shared memory",
        "around the word", "reads", "empty kernel",
    ],
)  # fmt: skip
def test_no_race(parts):
    assert _races(*parts) == []


@pytest.mark.parametrize(
    ("parts", "kinds"),
    [
        ((_kernel(1, _store()), _copy(EventKind.COPY_READ, 2, (0, 999))), ("STORE", "COPY_READ")),
        ((_copy(EventKind.COPY_WRITE, 2, (0, 999)), _kernel(1, _load())), ("COPY_WRITE", "LOAD")),
        (
            (_kernel(1, _atomic(Scope.DEVICE)), _kernel(2, _atomic(Scope.BLOCK, _OTHER_PC))),
            ("ATOMIC", "ATOMIC"),
        ),
        ((_kernel(1, _store(size=8)), _kernel(2, _load(0x104))), ("STORE", "LOAD")),
        (
            (
                _copy(EventKind.COPY_WRITE, 1, (0x180, 4), pc=_PC),
                _copy(EventKind.COPY_READ, 2, (0x183, 9)),
            ),
            ("COPY_WRITE", "COPY_READ"),
        ),
    ],
)  # fmt: skip
def test_races(parts, kinds):
    (race,) = _races(*parts)
    assert (race.first.access.name, race.second.access.name) == kinds
    assert race.race_class == RaceClass.INTER_LAUNCH


def test_a_race_is_one_a_pair_of_instructions_with_the_places_counted():
    lanes = tuple(Lane(lane, 0x100 + 4 * lane) for lane in range(8))
    store = Event(EventKind.STORE, pc=_PC, size=4, lanes=lanes)
    load = Event(EventKind.LOAD, pc=_OTHER_PC, size=4, lanes=lanes[2:])
    (race,) = _races(_kernel(1, store), _kernel(2, load))
    assert (race.address, race.instances) == (0x108, 6)


def test_order_inside_a_kernel_is_looked_at_as_well():
    races = _races(_kernel(0, _store(lane=0), _store(lane=0)), _kernel(0, _load()))
    assert races == []
