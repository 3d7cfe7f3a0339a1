"""The compiled exact detector finds what the happened-before oracle finds."""

import pytest

from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.trace.threads.events import ThreadEventKind
from racetrap.sim.cpu import exact_detector
from racetrap.sim.cpu.exact_detector import exact_races, races_so_far
from racetrap.sim.cpu.random_run import random_run
from tests.support.sigrace.programs import ThreadProgram
from tests.support.threads.random_traces import random_thread_trace


def assert_as_oracle(trace):
    """The same pairs, addresses of each, and an instance of each that is there; how many."""
    found, oracle = exact_races(trace), HappensBefore().run(trace)
    assert oracle.is_complete
    addresses = {}
    for race in oracle.races:
        addresses.setdefault(race.static_key, set()).add(race.address)
    assert {race.first.static_key: race.addresses for race in found} == {
        pair: len(where) for pair, where in addresses.items()
    }
    assert {race.first for race in found} <= set(oracle.races)
    return len(found)


@pytest.mark.parametrize("seed", range(60))
def test_random_runs(seed):
    if seed % 4:
        trace = random_run(seed, threads=1 + seed % 7, events=600, sync=(0.1, 0.3, 0.6)[seed % 3])
    else:
        trace = random_thread_trace(seed, threads=5, addresses=64, objects=2)
    assert_as_oracle(trace)


def test_random_runs_have_races():
    assert sum(assert_as_oracle(random_run(seed, threads=5)) for seed in range(5)) > 100


def test_memory_allocated_anew_is_new():
    program = ThreadProgram(2)
    program.store(0, 0x1000, pc=0x40)
    program.add(ThreadEventKind.ALLOCATE, 1, 0x1000, value=8)
    program.store(1, 0x1000, pc=0x44)
    program.store(0, 0x1008, pc=0x48)
    program.store(1, 0x1008, pc=0x4C)
    assert assert_as_oracle(program.trace()) == 1


def test_half_a_word_that_is_allocated_anew_is_new():
    for address, bytes_ in ((0x1000, 4), (0x1004, 4), (0x1002, 3)):
        program = ThreadProgram(2)
        program.store(0, 0x1000, size=8, pc=0x40)
        program.add(ThreadEventKind.ALLOCATE, 1, address, value=bytes_)
        program.store(1, 0x1000, size=4, pc=0x44)
        program.store(1, 0x1004, size=4, pc=0x48)
        assert assert_as_oracle(program.trace()) == (0 if address == 0x1002 else 1)


def test_an_order_that_is_not_there_is_seen():
    """The comparison sees releases of another object."""

    def differs(seed):
        trace = random_run(seed, threads=4, sync=0.6)
        events = trace.events.copy()
        events["address"][events["kind"] == ThreadEventKind.RELEASE] += 8
        ((_, races),) = exact_detector._parts(trace.header, events, 1 << 32)
        return {race.first.static_key for race in races} > HappensBefore().run(trace).static

    assert any(map(differs, range(20))), "20 runs do not differ"


@pytest.mark.parametrize("seed", range(5))
def test_races_so_far_are_those_of_the_events_up_to_there(seed):
    trace = random_run(seed, threads=3, events=200)
    whole = HappensBefore().run(trace).static
    parts = list(races_so_far(trace))
    assert parts[-1] == (len(trace), exact_races(trace))
    assert len({len(races) for _, races in parts}) > 3
    for taken, races in parts[:-1]:
        found = {race.first.static_key for race in races}
        before, last = (_races_in(trace, count) for count in (taken - 1, taken))
        assert before < found == last <= whole


def _races_in(trace, count):
    """Static races of the first events; rules for the ends of threads do not matter."""
    ((_, races),) = exact_detector._parts(trace.header, trace.events[:count], 1 << 32)
    return {race.first.static_key for race in races}
