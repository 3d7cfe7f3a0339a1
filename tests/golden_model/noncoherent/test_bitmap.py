"""The bitmap against a plain set, inside its window and outside."""

import random

import pytest

from racetrap.golden_model.noncoherent.bitmap import Bitmap
from racetrap.golden_model.noncoherent.interval_cam import Entry
from racetrap.golden_model.noncoherent.monitor import Monitor
from racetrap.golden_model.noncoherent.packets import MISS, BusOperation, Hit, rows_of, rules_of
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.trace.noncoherent.operations import OperationKind

#: Four words of 32 granules, from 128 to 639.
_PARAMS = NoncoherentParams(
    mode="thesis", line_bytes=8, granule_bytes=4, address_bits=16, window_bytes=512, window_base=128
)
_WINDOW = range(128, 640)


@pytest.mark.parametrize("seed", range(20))
def test_inside_nothing_is_lost_or_added_and_outside_nothing_lost(seed):
    generator = random.Random(seed)
    bitmap, exact, digests = Bitmap(_PARAMS), set(), {}
    for tag in range(200):
        first = 4 * generator.randrange(200)
        end = first + 4 * generator.choice((1, 2, 40))
        if generator.random() < 0.6:
            bitmap.insert(Entry(first, end, tag))
            exact |= set(range(first, end))
        elif generator.random() < 0.02:
            bitmap.remove(0, 1 << 16)
            exact.clear()
        else:
            bitmap.remove(first, end)
            exact -= set(range(first, end))
        start = generator.randrange(800)
        asked = range(start, start + generator.choice((1, 9, 150)))
        hit = bitmap.look_up(asked.start, asked.stop)
        meets = exact & set(asked)
        assert hit.found or not meets
        assert hit.definite == bool(meets & set(_WINDOW))
        assert hit == MISS or hit.found
        state = (tuple(bitmap.words), bitmap.outside)
        assert digests.setdefault(state, bitmap.digest) == bitmap.digest
    assert len(set(digests.values())) > 0.9 * len(digests)
    assert bitmap.events.keys() == {"insert", "merge", "cover", "shrink", "drop", "compact"}


def test_a_word_keeps_one_origin():
    bitmap = Bitmap(_PARAMS)
    bitmap.insert(Entry(128, 132, 1))
    bitmap.insert(Entry(136, 140, 2))
    assert bitmap.look_up(128, 132) == Hit(1, 1, 1, 2)
    bitmap.insert(Entry(128, 256, 3))
    assert bitmap.look_up(136, 137) == Hit(1, 1, 0, 3)
    # The first word that has some of the bytes is told.
    bitmap.insert(Entry(256, 260, 4))
    assert bitmap.look_up(0, 1000) == Hit(1, 1, 0, 3)


def _found(*operations):
    monitor = Monitor(_PARAMS)
    steps = monitor.run(row for one in operations for row in rows_of(_PARAMS, one))
    return [(rule.value, hit.definite) for step in steps for rule, hit in rules_of(step)]


def test_what_lies_outside_is_possible_until_all_is_flushed():
    kind = OperationKind
    outside = BusOperation(kind.CACHED_WRITE, 0, 64, 4)
    elsewhere = BusOperation(kind.DMA_READ, 0, 0x8000, 4)
    inside = BusOperation(kind.DMA_READ, 0, 128, 4)
    assert _found(elsewhere) == []
    assert _found(outside, elsewhere, inside) == [("5b", 0)]
    line = BusOperation(kind.CACHE_FLUSH, 0, 64, 8)
    assert _found(outside, line, elsewhere) == [("5b", 0)]
    assert _found(outside, BusOperation(kind.FLUSH_ALL), elsewhere) == []
