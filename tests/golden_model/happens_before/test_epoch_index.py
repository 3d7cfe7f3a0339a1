"""Places of epochs and what is collected in them, against a walk over the events."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racetrap.golden_model.happens_before.epoch_index import CollectedAccess, EpochIndex
from racetrap.golden_model.trace.threads.events import MemoryOrder, ThreadEventKind
from tests.support.sigrace.programs import ThreadProgram


@pytest.fixture
def program():
    """Thread 0: a store in epoch 1; thread 1: an unaligned load, a lock, a store in epoch 2."""
    program = ThreadProgram(2)
    program.store(0, 0x100, pc=0x10, instructions=3)
    program.load(1, 0x206, size=8, pc=0x20, instructions=5)
    program.lock(1, instructions=2)
    program.store(1, 0x300, size=16, pc=0x30, instructions=7)
    return program


def test_epochs_and_instructions(program):
    index = EpochIndex(program.trace())
    assert [index.start(1, epoch) for epoch in range(4)] == [0, 1, 3, 5]
    assert index.instructions(1, index.start(1, 1), index.start(1, 2)) == 5 + 2
    assert index.instructions(1, index.start(1, 2), index.start(1, 3)) == 7
    assert index.instructions(0, 0, 0) == 0
    assert index.last_epoch() == 2


def test_position_counts_events_up_to_a_number(program):
    index = EpochIndex(program.trace())
    assert [index.position(0, number) for number in range(-1, 5)] == [0, 1, 2, 2, 3, 3]
    assert [index.position(1, number) for number in range(-1, 5)] == [0, 0, 0, 1, 1, 2]


def test_granules_and_accesses(program):
    index = EpochIndex(program.trace())
    assert index.granules(1, 1, 3) == [0x204, 0x208, 0x20C]
    assert index.granules(1, 3, 5) == [0x300, 0x304, 0x308, 0x30C]
    assert index.granules(1, 0, 1) == []
    load = CollectedAccess(4, 0x206, 8, 0x20, False)
    store = CollectedAccess(6, 0x300, 16, 0x30, True)
    assert index.accesses(1, 0, 5, [0x208, 0x30C]) == [load, store]
    assert index.accesses(1, 0, 5, [0x200, 0x210, 0x2FC, 0x310]) == []
    assert index.accesses(1, 0, 5, []) == []


def test_atomics_and_uncollected_accesses_are_left_out():
    program = ThreadProgram(1)
    program.add(ThreadEventKind.ATOMIC_UPDATE, 0, 0x100, 4, MemoryOrder.ACQ_REL)
    program.add(ThreadEventKind.COLLECT_OFF, 0)
    program.store(0, 0x200)
    program.add(ThreadEventKind.COLLECT_ON, 0)
    number = program.store(0, 0x300)
    index = EpochIndex(program.trace())
    assert index.granules(0, 0, 6) == [0x300]
    assert [access.number for access in index.accesses(0, 0, 6, [0x100, 0x200, 0x300])] == [number]
    # The update takes two steps: epoch 1 is empty.
    assert (index.start(0, 1), index.start(0, 2)) == (2, 2)


def test_allocation_begins_a_life():
    program = ThreadProgram(1)
    before = program.store(0, 0x1004)
    program.add(ThreadEventKind.ALLOCATE, 0, 0x1004, value=6)
    after = program.store(0, 0x1004)
    index = EpochIndex(program.trace())
    for granule, lives in ((0x1000, [0, 0]), (0x1004, [0, 1]), (0x1008, [0, 1]), (0x100C, [0, 0])):
        assert [index.life(granule, number) for number in (before, after)] == lives


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 2), st.integers(0, 40), st.integers(1, 16), st.booleans(),
            st.integers(0, 9),
        ),
        max_size=40,
    ),
    st.sets(st.integers(0, 16)),
)  # fmt: skip
def test_accesses_are_those_of_a_walk(steps, numbers):
    program = ThreadProgram(3)
    for thread, address, size, is_write, what in steps:
        if what == 0:
            program.synchronise(thread)
        (program.store if is_write else program.load)(thread, address, size)
    trace = program.trace()
    index, wanted = EpochIndex(trace), sorted(number * 4 for number in numbers)
    for thread in range(3):
        own = [(n, event) for n, event in enumerate(trace) if event.thread == thread]
        expected, touched = [], set()
        for number, event in own:
            if event.kind > ThreadEventKind.STORE:
                continue
            granules = {(event.address + byte) // 4 * 4 for byte in range(event.size)}
            touched |= granules
            if granules & set(wanted):
                expected.append(number)
        assert index.granules(thread, 0, len(own)) == sorted(touched)
        found = index.accesses(thread, 0, len(own), wanted)
        assert [access.number for access in found] == expected
