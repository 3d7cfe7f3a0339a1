"""Granule splitter: which granules it hands out, and when."""

import random
from dataclasses import replace

import pytest

from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp
from racetrap.rtl.sigrace.granule_splitter import GranuleSplitter
from racetrap.rtl.sigrace.layouts import item_layout
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import get_all, monitor, put_all, random_idle, simulate
from tests.support.sigrace.configurations import SMALL


def granules_of(event):
    """Granules that the bytes of an access lie in, by definition; none for other events."""
    if event.op > CoreOp.STORE:
        return []
    return list(dict.fromkeys((event.data + byte) % (1 << 32) // 4 for byte in range(event.size)))


def split(params, events, seed=None):
    """Items, and the cycles in which they left and events were taken."""
    dut, left, taken = GranuleSplitter(params), [], []
    pauses = [{"idle": random_idle(f"{seed} {end}")} if seed else {} for end in ("put", "get")]
    count = sum(max(1, len(granules_of(event))) for event in events)
    simulate(
        dut,
        put_all(dut.i, [params.event_layout.pack(each._asdict()) for each in events], **pauses[0]),
        get_all(dut.o, count, [], **pauses[1]),
        background=[monitor(dut.o, left), monitor(dut.i, taken)],
    )
    items = [item_layout(params).from_bits(word) for _, word in left]
    return items, [cycle for cycle, _ in left], [cycle for cycle, _ in taken]


@pytest.mark.parametrize("pc_bits", [8, 32])
def test_random_events(pc_bits):
    params = replace(SMALL, pc_bits=pc_bits)
    rng = random.Random(pc_bits)
    events = [
        CoreEvent(
            rng.choice([CoreOp.LOAD, CoreOp.STORE, rng.randrange(16)]),
            rng.choice([rng.getrandbits(32), (1 << 32) - rng.randint(1, 20)]),
            rng.randint(1, 16),
            rng.getrandbits(12),
            rng.getrandbits(12),
            rng.getrandbits(pc_bits),
        )
        for _ in range(150)
    ]
    items, _, _ = split(params, events, seed=str(pc_bits))
    remaining = iter(items)
    for event in events:
        granules = granules_of(event)
        for number in range(count := max(1, len(granules))):
            item = next(remaining)
            assert params.event_layout.unpack(item.event.as_bits()) == event._asdict()
            assert (item.is_first, item.is_last) == (number == 0, number == count - 1)
            assert item.has_granule == bool(granules)
            assert not granules or item.granule == granules[number]


@pytest.mark.parametrize("address", [8, 9])
def test_access_of_no_bytes_passes(address):
    """No program makes one; it must not hold up others."""
    events = [CoreEvent(CoreOp.LOAD, address, 0), CoreEvent(CoreOp.LOAD, 4, 4)]
    items, _, _ = split(SMALL, events)
    assert [item.is_last for item in items] == [1, 1]
    assert [item.has_granule for item in items] == [address % 4 != 0, 1]


def test_one_granule_a_cycle_across_events():
    sizes = [4, 4, 16, 1, 16, 4]
    events = [CoreEvent(CoreOp.STORE, 0x1003, size) for size in sizes]
    _, left, taken = split(SMALL, events)
    assert left == list(range(left[0], left[0] + sum((size + 6) // 4 for size in sizes)))
    assert left[0] - taken[0] == 1


def test_no_path_from_valid_to_ready():
    assert valid_to_ready_paths(GranuleSplitter(SMALL)) == []
