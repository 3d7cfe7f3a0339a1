"""The bounded set of bytes against a plain set, and where its limits show."""

import random
from itertools import pairwise

import pytest

from racetrap.golden_model.noncoherent.interval_cam import Entry, IntervalCam
from racetrap.golden_model.noncoherent.packets import MISS, Hit
from racetrap.golden_model.noncoherent.params import NoncoherentParams


def _cam(entries):
    return IntervalCam(NoncoherentParams(entries=entries))


def _entries(cam):
    return [entry for entry in cam.slots if entry is not None]


@pytest.mark.parametrize("seed", range(20))
def test_no_byte_is_lost_and_precise_entries_have_no_other(seed):
    generator = random.Random(seed)
    cam, exact, digests = _cam(generator.randint(2, 9)), set(), {}
    for tag in range(200):
        first = generator.randrange(100)
        end = first + generator.randint(1, 12)
        if generator.random() < 0.6:
            cam.insert(Entry(first, end, tag))
            exact |= set(range(first, end))
        else:
            cam.remove(first, end)
            exact -= set(range(first, end))
        held = _entries(cam)
        assert exact <= {byte for entry in held for byte in range(entry.first, entry.end)}
        for entry in held:
            assert entry.imprecise or set(range(entry.first, entry.end)) <= exact
        assert None in cam.slots
        ordered = sorted(held)
        for one, other in pairwise(ordered):
            assert one.end < other.first
        assert digests.setdefault(tuple(cam.slots), cam.digest) == cam.digest
    assert cam.events.keys() >= {"split", "merge"}


def test_neighbours_are_one_entry_that_tells_of_other_origins():
    cam = _cam(4)
    cam.insert(Entry(0, 4, 1))
    cam.insert(Entry(8, 12, 2))
    cam.insert(Entry(4, 8, 3))
    assert _entries(cam) == [Entry(0, 12, 3, others=1)]
    # What is written over has no part any more.
    cam.insert(Entry(0, 12, 4))
    assert _entries(cam) == [Entry(0, 12, 4)]


def test_one_entry_becomes_two():
    cam = _cam(3)
    cam.insert(Entry(0, 16, 1))
    cam.remove(4, 8)
    assert _entries(cam) == [Entry(0, 4, 1), Entry(8, 16, 1)]
    assert cam.events == {"insert": 1, "split": 1}


def test_smallest_gap_is_closed_when_the_last_entry_is_taken():
    cam = _cam(3)
    for tag, first in enumerate((0, 30, 10)):
        cam.insert(Entry(first, first + 4, tag))
    assert _entries(cam) == [Entry(0, 14, 0, others=1, imprecise=1), Entry(30, 34, 1)]
    assert cam.look_up(6, 8) == Hit(1, 0, 1, 0)
    assert cam.look_up(6, 31) == Hit(1, 1, 0, 1)
    assert cam.look_up(14, 30) == MISS
    # A gap that is filled later does not make it precise, but bytes over all of it do.
    cam.insert(Entry(4, 10, 3))
    assert cam.look_up(0, 1).definite == 0
    cam.insert(Entry(0, 14, 4))
    assert cam.look_up(0, 1) == Hit(1, 1, 0, 4)


def test_digest_depends_on_every_field_and_the_slot():
    digests = set()
    for entry in (Entry(0, 8, 1), Entry(1, 8, 1), Entry(0, 9, 1), Entry(0, 8, 0),
                  Entry(0, 8, 1, others=1), Entry(0, 8, 1, imprecise=1)):  # fmt: skip
        cam = _cam(4)
        cam.insert(entry)
        digests.add(cam.digest)
    cam.insert(Entry(100, 101, 0))
    cam.remove(0, 8)
    cam.insert(Entry(0, 8, 1))
    cam.remove(100, 101)
    assert cam.slots[0] == Entry(0, 8, 1)
    cam.insert(Entry(100, 101, 0))
    cam.remove(0, 8)
    assert cam.slots[1] is not None
    digests |= {cam.digest, 0}
    assert len(digests) == 8
