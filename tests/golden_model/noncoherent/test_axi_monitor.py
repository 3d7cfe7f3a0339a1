"""Ranges of bursts, byte by byte from the specification's beat addresses, and syncs."""

from random import Random

import pytest

from racetrap.golden_model.axi import AxiBurst
from racetrap.golden_model.noncoherent.axi_monitor import AxiMonitor, Burst, BusCycle, range_of
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.trace.noncoherent.operations import OperationKind

_PARAMS = NoncoherentParams(engines=2, address_bits=16, tag_bits=4, observes_bus=True)
_K = OperationKind


def _bytes_of(burst):
    """Bytes of all beats, by the equations of Section A3.4.1."""
    number_bytes, beats = 1 << burst.size, burst.length + 1
    aligned = burst.address // number_bytes * number_bytes
    boundary = burst.address // (number_bytes * beats) * (number_bytes * beats)
    touched = set()
    for beat in range(beats):
        address = burst.address if beat == 0 else aligned + beat * number_bytes
        if burst.burst == AxiBurst.FIXED:
            address = burst.address
        elif burst.burst == AxiBurst.WRAP and address >= boundary + number_bytes * beats:
            address -= number_bytes * beats
        upper = address // number_bytes * number_bytes + number_bytes
        touched |= set(range(address, upper))
    return touched


def test_ranges_are_the_bytes_of_all_beats():
    random, seen = Random(1), set()
    for _ in range(3000):
        kind = random.choice(list(AxiBurst))
        size = random.randrange(8)
        length = {
            AxiBurst.FIXED: random.randrange(16), AxiBurst.INCR: random.randrange(256),
            AxiBurst.WRAP: random.choice((1, 3, 7, 15)),
        }[kind]  # fmt: skip
        address = random.randrange(1 << 14)
        if kind is AxiBurst.WRAP:
            address &= -(1 << size)
        burst = Burst(0, address, length, size, kind)
        first, end = range_of(_PARAMS, burst)
        assert set(range(first, end)) == _bytes_of(burst), burst
        seen.add((kind, size))
    assert len(seen) == 24


def test_a_range_ends_with_the_addresses():
    assert range_of(_PARAMS, Burst(0, 0xFFF8, 3, 3, AxiBurst.INCR)) == (0xFFF8, 0x10000)


@pytest.mark.parametrize("same_cycle", [False, True])
def test_an_engine_is_synced_when_its_last_burst_is_done(same_cycle):
    monitor = AxiMonitor(_PARAMS)
    burst = Burst(1, 0x100, 0, 2, AxiBurst.INCR)
    begun = list(monitor.cycle(BusCycle(read=burst, write=burst)))
    assert [(one.kind, one.engine, one.tag) for one in begun] == [
        (_K.DMA_READ, 1, 0), (_K.DMA_WRITE, 1, 1)
    ]  # fmt: skip
    if same_cycle:
        done = list(monitor.cycle(BusCycle(read_done=1, write_done=1)))
    else:
        assert list(monitor.cycle(BusCycle(write_done=1))) == []
        done = list(monitor.cycle(BusCycle(read_done=1)))
    assert [(one.kind, one.engine) for one in done] == [(_K.SYNC, 1)]
    again = list(monitor.cycle(BusCycle(read=burst)))
    assert list(monitor.cycle(BusCycle(write=burst, read_done=1))) != []
    assert [one.tag for one in again] == [2]
    assert [one.kind for one in monitor.cycle(BusCycle(write_done=1))] == [_K.SYNC]
