"""Timelines of races: what stands in them, in which order, and how much is left out."""

from racetrap.golden_model.events import AtomicOp, Event, EventKind, MemoryOrder
from racetrap.golden_model.trace import Trace
from racetrap.verdict import tracks
from racetrap.verdict.gpu.trace_check import TraceCheck
from tests.support.oracle.programs import ALL, BLOCK, DEVICE, SHARED, Program

_DATA, _FLAG, _OTHER = 0x100, 0x200, 0x300


def _timeline(trace):
    check = TraceCheck()
    check.add(trace)
    (pair,) = check.pairs
    return pair.first.timeline


def _shown(timeline):
    return [(moment.sides, moment.words) for moment in timeline.moments]


def test_a_message_through_a_fence_that_is_too_narrow():
    program = Program(blocks=2, warps=1)
    writer, reader = (0, 0), (1, 0)
    program.weak_store(writer, _DATA)
    program.fence(writer, BLOCK)
    program.atomic(writer, _FLAG, op=AtomicOp.EXCH)
    program.atomic(reader, _FLAG)
    program.fence(reader, DEVICE)
    program.weak_load(reader, _DATA)
    timeline = _timeline(program.trace)
    assert timeline.actors == ("thread 0 of block 0", "thread 0 of block 1")
    assert _shown(timeline) == [
        ((0,), "store"), ((0,), "fence, block scope"), ((0,), "atomic exchange"),
        ((1,), "atomic"), ((1,), "fence"), ((1,), "load"),
    ]  # fmt: skip
    assert [moment.lack for moment in timeline.moments] == ["", "too narrow", "", "", "", ""]
    assert [moment.is_access for moment in timeline.moments] == [True, *[False] * 4, True]
    assert timeline.messages == ((2, 3),)
    assert timeline.skipped == 0


def test_a_thread_that_waits_is_shown_once_and_other_accesses_are_counted():
    program = Program(blocks=2, warps=1)
    writer, reader = (0, 0), (1, 0)
    program.weak_store(reader, _OTHER)
    program.weak_store(writer, _DATA)
    spin = program.atomic(reader, _FLAG)
    for _ in range(6):
        program.atomic(reader, _FLAG, pc=spin)
    for _ in range(5):
        program.weak_store(writer, _OTHER + 4)
    program.atomic(writer, _FLAG)
    program.atomic(reader, _FLAG, pc=spin)
    program.weak_load(reader, _OTHER)
    program.weak_load(reader, _DATA)
    timeline = _timeline(program.trace)
    assert _shown(timeline) == [
        ((0,), "store"), ((0,), "atomic"), ((1,), "atomic"), ((1,), "load"),
    ]  # fmt: skip
    assert [moment.times for moment in timeline.moments] == [1, 1, 8, 1]
    assert [moment.skipped for moment in timeline.moments] == [0, 5, 0, 1]
    # The writer's atomic comes first; the reader's that is shown is the one that saw it.
    assert timeline.messages == ((1, 2),)
    assert [moment.lack for moment in timeline.moments] == ["", "no release", "no acquire", ""]


def test_a_reader_that_also_writes_lacks_nothing_as_a_writer():
    """Both threads run the code that lacks a release; the reader's own part is not to blame."""
    program = Program(blocks=2, warps=1)
    writer, reader = (0, 0), (1, 0)
    program.weak_store(writer, _DATA)
    hand_over = program.atomic(writer, _FLAG, op=AtomicOp.EXCH)
    late = program.fence(writer, DEVICE)
    program.atomic(reader, _OTHER, op=AtomicOp.EXCH, pc=hand_over)
    program.fence(reader, DEVICE, pc=late)
    program.atomic(reader, _FLAG)
    program.fence(reader, DEVICE)
    program.weak_load(reader, _DATA)
    lacks = [(moment.sides[0], moment.lack) for moment in _timeline(program.trace).moments]
    assert lacks == [
        (0, ""), (0, "no release"), (0, "too late"), (1, ""), (1, ""), (1, ""), (1, ""), (1, ""),
    ]  # fmt: skip


def test_messages_are_of_the_threads_own_locations():
    """Lane 1 of the writer, and the first access of the reader to each location."""
    program = Program(blocks=2, warps=1)
    writer, reader = (0, 0), (1, 0)
    program.weak_store(writer, _DATA, lanes=2)
    program.store(writer, _FLAG, lanes=3, stride=8, order=MemoryOrder.RELAXED)
    program.store(writer, 0, lanes=2, **SHARED)
    for address in (_FLAG, _FLAG + 8, _FLAG + 8):
        program.load(reader, address, order=MemoryOrder.RELAXED)
    program.load(reader, 0, **SHARED)
    program.weak_load(reader, _DATA)
    timeline = _timeline(program.trace)
    assert len(timeline.moments) == 8
    assert timeline.messages == ((1, 4),)


def test_what_the_cause_names_is_shown_though_it_is_far_from_the_access():
    program = Program(blocks=2, warps=1)
    writer, reader = (0, 0), (1, 0)
    program.weak_store(writer, _DATA)
    for number in range(6):
        program.atomic(writer, _OTHER + 4 * number)
    hand_over = program.atomic(writer, _FLAG, op=AtomicOp.EXCH)
    program.atomic(reader, _FLAG)
    program.fence(reader, DEVICE)
    program.weak_load(reader, _DATA)
    timeline = _timeline(program.trace)
    (lacking,) = (moment for moment in timeline.moments if moment.lack)
    assert (lacking.lack, lacking.words) == ("no release", "atomic exchange")
    assert program.trace.events["pc"][lacking.event] == hand_over


def test_a_barrier_of_other_warps_is_left_out():
    program = Program(blocks=1, warps=3)
    trace = program.trace
    partial = [
        Event(EventKind.PARTIAL_BARRIER, pc=0x2000 + 8 * mask, grid_block=1, mask=mask)
        for mask in (3, 6, 4)
    ]
    program.weak_store((0, 0), _DATA, **SHARED)
    program.weak_load((0, 1), _DATA, **SHARED)
    events = list(program.trace)
    # Behind the placement of the block.
    events[2:2] = partial
    timeline = _timeline(Trace.from_events(trace.header, events))
    assert _shown(timeline) == [
        ((0, 1), "partial barrier"), ((1,), "partial barrier"), ((0,), "store"), ((1,), "load"),
    ]  # fmt: skip


def test_barriers_of_the_block_belong_to_both_threads():
    program = Program(blocks=1, warps=2)
    program.barrier(0)
    program.weak_load((0, 0), _OTHER)
    program.weak_load((0, 1), _OTHER)
    program.weak_load((0, 1), _OTHER)
    around = program.barrier(0)
    program.weak_store((0, 0), _DATA, **SHARED)
    program.weak_load((0, 1), _DATA, **SHARED)
    timeline = _timeline(program.trace)
    assert _shown(timeline) == [
        ((0, 1), "barrier"), ((0, 1), "barrier"), ((0,), "store"), ((1,), "load"),
    ]  # fmt: skip
    assert program.trace.events["pc"][timeline.moments[1].event] == around
    assert [moment.skipped for moment in timeline.moments] == [0, 3, 0, 0]
    assert timeline.skipped == 3


def test_lanes_of_one_store():
    program = Program(blocks=1, warps=1)
    program.weak_store((0, 0), _DATA, lanes=3, values=(1, 2))
    timeline = _timeline(program.trace)
    assert _shown(timeline) == [((0, 1), "store")]
    assert timeline.moments[0].is_access


def test_only_what_the_two_lanes_do_themselves():
    program = Program(blocks=2, warps=2)
    program.weak_store((0, 1), _DATA, lanes=2)
    program.fence((0, 1), DEVICE, lanes=1)
    program.fence((0, 0), DEVICE, lanes=ALL)
    program.barrier(0)
    program.atomic((0, 1), _OTHER, lanes=4)
    program.weak_load((1, 0), _DATA, lanes=8)
    timeline = _timeline(program.trace)
    assert timeline.actors == ("thread 33 of block 0", "thread 3 of block 1")
    assert _shown(timeline) == [((0,), "store"), ((0,), "barrier"), ((1,), "load")]


def test_a_block_that_had_the_slot_before_is_not_shown():
    program = Program(blocks=2, warps=1)
    program.atomic((0, 0), _FLAG)
    program.next_kernel()
    program.weak_store((0, 0), _DATA)
    program.weak_load((1, 0), _DATA)
    program.next_kernel()
    program.atomic((0, 0), _FLAG)
    assert _shown(_timeline(program.trace)) == [((0,), "store"), ((1,), "load")]


def test_at_most_so_many_are_shown():
    program = Program(blocks=2, warps=1)
    for _ in range(9):
        program.fence((0, 0), DEVICE)
    program.weak_store((0, 0), _DATA)
    for _ in range(9):
        program.fence((0, 0), DEVICE)
    program.weak_load((1, 0), _DATA)
    for _ in range(9):
        program.fence((0, 0), DEVICE)
    timeline = _timeline(program.trace)
    own = [moment for moment in timeline.moments if moment.sides == (0,)]
    assert len(own) == 2 + 1 + 4 + 2
    # The five that are left out between the accesses.
    assert timeline.skipped == 5


def test_only_what_is_near_in_the_run_is_looked_through(monkeypatch):
    """So that a race in a trace of millions of events costs no more than another."""
    monkeypatch.setattr(tracks, "_REACH", 4)
    program = Program(blocks=2, warps=2)
    program.weak_store((0, 0), _DATA)
    spin = program.atomic((1, 0), _FLAG)
    for _ in range(9):
        program.atomic((1, 0), _FLAG, pc=spin)
    program.fence((0, 0), DEVICE)
    program.weak_load((1, 0), _DATA)
    timeline = _timeline(program.trace)
    assert [(*each.sides, each.words, each.times) for each in timeline.moments] == [
        (0, "store", 1), (1, "atomic", 3), (1, "load", 1),
    ]  # fmt: skip


def test_orders_and_scopes_are_named():
    program = Program(blocks=2, warps=1)
    program.weak_store((0, 0), _DATA)
    program.store((0, 0), _FLAG, order=MemoryOrder.RELAXED)
    program.store((0, 0), _OTHER, scope=BLOCK)
    program.fence((0, 0), DEVICE, order=MemoryOrder.ACQ_REL)
    program.load((1, 0), _FLAG, order=MemoryOrder.ACQUIRE)
    program.weak_load((1, 0), _DATA)
    timeline = _timeline(program.trace)
    assert [moment.words for moment in timeline.moments] == [
        "store", "relaxed store", "volatile store, block scope", "acq-rel fence", "acquire load",
        "load",
    ]  # fmt: skip
    assert timeline.messages == ((1, 4),)


def test_kernels_that_nothing_orders():
    """Two streams: begin and end of both kernels, and the two accesses."""
    program = Program(blocks=1, warps=1)
    program.weak_store((0, 0), _DATA)
    program.next_kernel()
    program.weak_load((0, 0), _DATA)
    trace = program.trace
    stream = iter((1, 2))
    events = [
        event._replace(grid_block=next(stream)) if event.kind == EventKind.KERNEL_BEGIN else event
        for event in trace
    ]
    assert _shown(_timeline(Trace.from_events(trace.header, events))) == [
        ((0,), "kernel begins"), ((0,), "store"), ((0,), "kernel ends"),
        ((1,), "kernel begins"), ((1,), "load"), ((1,), "kernel ends"),
    ]  # fmt: skip
