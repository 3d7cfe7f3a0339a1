"""Rules of causality on small programs, each with what makes it race."""

import pytest

from racetrap.golden_model.causality.causality import Causality
from racetrap.golden_model.causality.packets import RaceKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.events import Event, EventKind, Lane, MemoryOrder
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.trace import Trace
from racetrap.verdict.causality.findings import find_races
from tests.support.causality.judged import UNLIMITED, judged, params_for
from tests.support.oracle.programs import ALL, BLOCK, DEVICE, SHARED, Program

#: Two warps of block 0, and one of block 1.
MINE, NEAR, FAR = (0, 0), (0, 1), (1, 0)
DATA, FLAG, OTHER = 0x0, 0x100, 0x200


def kinds(program: Program, **settings) -> list[RaceKind]:
    """Kinds of the races that are reported; the judge must find the same instructions."""
    trace = program.trace
    found = judged(trace, **settings)
    assert found.reported == found.races
    _, races = find_races(trace, params_for(trace, **settings))
    return [RaceKind(race.report.race) for race in races]


def message(
    program: Program, writer, reader, *, release=DEVICE, acquire=DEVICE, flag=DEVICE
) -> None:
    """Data, and a flag that says so; None leaves a fence out."""
    program.weak_store(writer, DATA)
    if release is not None:
        program.fence(writer, release)
    program.store(writer, FLAG, scope=flag)
    program.load(reader, FLAG, scope=flag)
    if acquire is not None:
        program.fence(reader, acquire)
    program.weak_load(reader, DATA)


@pytest.mark.parametrize(
    ("reader", "changes", "flag", "data"),
    [
        (FAR, {}, None, None),
        # A volatile flag that nobody releases or acquires is a race of its own.
        (FAR, {"acquire": None}, RaceKind.ACQUIRE, RaceKind.ACQUIRE),
        (FAR, {"release": None}, RaceKind.RELEASE, RaceKind.RELEASE),
        (FAR, {"release": BLOCK}, RaceKind.SCOPE, RaceKind.SCOPE),
        (FAR, {"acquire": BLOCK}, RaceKind.ACQUIRE, RaceKind.ACQUIRE),
        (NEAR, {}, None, None),
        (NEAR, {"release": BLOCK, "acquire": BLOCK, "flag": BLOCK}, None, None),
        (NEAR, {"acquire": None}, RaceKind.ACQUIRE, RaceKind.ACQUIRE),
        (NEAR, {"release": None}, RaceKind.BARRIER, RaceKind.BARRIER),
    ],
)
def test_message_needs_release_and_acquire_of_its_scope(reader, changes, flag, data):
    program = Program()
    message(program, MINE, reader, **changes)
    # That of the flag may be decided last: it could still have been acquired.
    assert sorted(kinds(program)) == sorted(kind for kind in (flag, data) if kind is not None)


def test_message_goes_on_through_a_third_thread():
    program = Program(blocks=4)
    message(program, MINE, FAR)
    program.fence(FAR, DEVICE)
    program.store(FAR, OTHER)
    program.load((2, 0), OTHER)
    program.fence((2, 0), DEVICE)
    program.weak_store((2, 0), DATA)
    assert kinds(program) == []


def test_what_comes_back_to_a_warp_goes_on_with_its_messages():
    """It has released its accesses to its block alone, another warp has to the device."""
    program = Program()
    program.weak_store(MINE, DATA)
    program.fence(MINE, BLOCK)
    program.store(MINE, FLAG, scope=BLOCK, order=MemoryOrder.RELAXED)
    program.load(NEAR, FLAG, scope=BLOCK, order=MemoryOrder.RELAXED)
    program.fence(NEAR, DEVICE)
    for warp in (NEAR, MINE):
        program.atomic(warp, OTHER)
    program.fence(MINE, BLOCK, order=MemoryOrder.ACQUIRE)
    program.atomic(FAR, OTHER)
    program.fence(FAR, DEVICE)
    program.weak_load(FAR, DATA)
    assert kinds(program, **UNLIMITED) == []


def test_named_operations_release_and_acquire():
    program = Program()
    program.weak_store(MINE, DATA)
    program.store(MINE, FLAG, order=MemoryOrder.RELEASE)
    program.load(FAR, FLAG, order=MemoryOrder.ACQUIRE)
    program.weak_load(FAR, DATA)
    assert kinds(program) == []


def test_block_barrier_orders_its_block_alone():
    program = Program()
    program.weak_store(MINE, DATA)
    program.barrier(0)
    program.weak_load(NEAR, DATA)
    assert kinds(program) == []
    program.weak_load(FAR, DATA)
    assert kinds(program) == [RaceKind.RELEASE]


def test_shared_memory_is_of_a_block():
    program = Program()
    program.weak_store(MINE, DATA, **SHARED)
    program.weak_store(FAR, DATA, **SHARED)
    assert kinds(program) == []
    program.weak_load(NEAR, DATA, **SHARED)
    assert kinds(program) == [RaceKind.BARRIER]


def independent(program: Program) -> Trace:
    """The trace, as if the lanes of its warps had been scheduled independently."""
    trace = program.trace
    return Trace.from_events(
        type(trace.header)(**{**vars(trace.header), "independent_threads": 1}), list(trace)
    )


def warp_barrier(program: Program, lanes: int) -> Trace:
    """Lane 0 writes, lanes meet, lane 1 reads."""
    program.weak_store(MINE, DATA, lanes=1)
    program._events.append(Event(EventKind.WARP_BARRIER, mask=lanes, pc=0x9000))
    program.weak_load(MINE, DATA, lanes=2)
    return independent(program)


@pytest.mark.parametrize(("lanes", "races"), [(0, 0), (3, 0), (1, 1), (0b110, 1), (0xF, 0)])
def test_lanes_of_a_warp_meet_in_its_barriers(lanes, races):
    trace = warp_barrier(Program(), lanes)
    found = judged(trace)
    assert len(found.reported) == races
    assert found.reported == found.races


def test_lanes_in_lockstep_race_across_a_branch_only():
    program = Program()
    program.weak_store(MINE, DATA, lanes=1)
    program.weak_load(MINE, DATA, lanes=2)
    assert kinds(program) == []
    program.branch(MINE, 1)
    program.weak_store(MINE, OTHER, lanes=1)
    program.other_side(MINE, ALL & ~1)
    program.weak_load(MINE, OTHER, lanes=2)
    program.together(MINE, ALL)
    assert kinds(program) == [RaceKind.WARP_BARRIER]


def test_lanes_of_one_store_race_if_their_values_differ():
    program = Program()
    program.weak_store(MINE, DATA, lanes=3, values=(5, 5))
    assert kinds(program) == []
    program.weak_store(MINE, OTHER, lanes=3, values=(5, 6))
    assert kinds(program) == [RaceKind.UNEQUAL_STORE]


@pytest.mark.parametrize(("lanes", "races"), [(0b1100, 0), (0b1110, 1), (0b0010, 1)])
def test_each_lane_comes_behind_a_write_by_itself_or_by_what_it_has_read(lanes, races):
    """Lane 3 writes, and lane 2 reads what it wrote."""
    program = Program()
    written = program.store(MINE, DATA, lanes=0b1000, order=MemoryOrder.RELAXED)
    program.load(MINE, DATA, lanes=0b0100, order=MemoryOrder.RELAXED)
    program.weak_store(MINE, DATA, lanes=lanes, pc=0x7000)
    found = judged(independent(program))
    assert (frozenset((written, 0x7000)) in found.reported) == races
    assert found.reported <= found.races


@pytest.mark.parametrize(("order", "races"), [(MemoryOrder.ACQ_REL, 0), (MemoryOrder.RELAXED, 1)])
def test_lanes_of_one_atomic_come_behind_what_one_of_them_has_read(order, races):
    program = Program()
    written = program.atomic(FAR, DATA)
    program.load(MINE, DATA, order=MemoryOrder.RELAXED)
    program.atomic(MINE, DATA, scope=BLOCK, lanes=3, order=order, pc=0x7000)
    found = judged(independent(program))
    assert (frozenset((written, 0x7000)) in found.reported) == races
    assert found.reported <= found.races


def test_bytes_of_a_word_are_apart():
    program = Program()
    program.weak_store(MINE, DATA, size=1)
    program.weak_store(FAR, DATA + 1, size=1)
    assert kinds(program) == []
    program.weak_store(MINE, OTHER, size=1)
    program.weak_store(FAR, OTHER, size=2)
    assert kinds(program) == [RaceKind.RELEASE]


def test_bytes_that_lanes_write_one_by_one_are_all_kept():
    program = Program()
    program.weak_store(MINE, DATA, lanes=0xF, stride=1, size=1)
    program.weak_load(FAR, DATA, size=1)
    assert kinds(program) == [RaceKind.RELEASE]


def test_fences_of_two_writers_are_in_order():
    """Two writers of one word: their ``fence.sc`` are in the order of its values."""
    program = Program()
    program.weak_store(MINE, DATA)
    program.fence(MINE, DEVICE)
    program.store(MINE, FLAG, order=MemoryOrder.RELAXED)
    program.store(FAR, FLAG, order=MemoryOrder.RELAXED)
    program.fence(FAR, DEVICE)
    program.weak_load(FAR, DATA)
    assert kinds(program) == []


def test_fence_of_another_warp_of_the_block_is_in_order_as_well():
    """A fence, a barrier, and a flag of another warp."""
    program = Program()
    program.weak_store(MINE, DATA)
    program.fence(MINE, DEVICE)
    program.barrier(0)
    program.store(NEAR, FLAG, order=MemoryOrder.RELAXED)
    program.load(FAR, FLAG, order=MemoryOrder.RELAXED)
    program.fence(FAR, DEVICE)
    program.weak_load(FAR, DATA)
    assert kinds(program) == []


def test_scope_of_an_atomic_leaves_another_block_out():
    program = Program()
    program.atomic(MINE, DATA, scope=BLOCK)
    program.atomic(NEAR, DATA, scope=BLOCK)
    assert kinds(program) == []
    program.atomic(MINE, OTHER, scope=BLOCK)
    program.atomic(FAR, OTHER, scope=DEVICE)
    assert kinds(program) == [RaceKind.SCOPE]


def test_what_does_not_fit_is_counted_and_taken_as_ordered():
    program = Program(blocks=8, warps=1)
    for block in range(1, 8):
        program.weak_store((block, 0), DATA + 4 * block)
        program.fence((block, 0), DEVICE)
        program.store((block, 0), FLAG + 4 * block)
        program.load((0, 0), FLAG + 4 * block)
    program.fence((0, 0), DEVICE)
    for block in range(1, 8):
        program.weak_load((0, 0), DATA + 4 * block)
    trace = program.trace
    model, races = find_races(trace, params_for(trace, known=1, pending=1))
    assert list(races) == []
    assert model.counters["knowledge_evictions"] >= 5


def test_tag_conflict_drops_a_message_but_reports_nothing():
    program = Program()
    message(program, MINE, FAR)
    trace = program.trace
    params = params_for(trace, ratio=64)
    model, races = find_races(trace, params)
    entries = 1 << trace.header.region.size_log2 - params.entry_share_log2 - 1
    assert list(races) == []
    far_away = Program()
    far_away.weak_store(MINE, DATA)
    far_away.fence(MINE, DEVICE)
    far_away.store(MINE, FLAG)
    far_away.weak_load(MINE, FLAG + 4 * entries)
    far_away.load(FAR, FLAG)
    far_away.fence(FAR, DEVICE)
    far_away.weak_load(FAR, DATA)
    trace = far_away.trace
    model, races = find_races(trace, params)
    assert list(races) == []
    # The word that displaces it, and the message's own, which comes back: each may lead on.
    assert model.counters["messages_dropped"] == 2


_WRITES, _READS = 0x6000, 0x7000


@pytest.mark.parametrize("write", ["store", "atomic"])
@pytest.mark.parametrize(("pc", "races"), [(_WRITES, 0), (_WRITES + 1, 1)])
def test_instruction_that_has_written_a_flag_may_write_it_again(write, pc, races):
    """A reader waits for one of the values of a counter, and ends while the writer goes on; what
    another instruction writes it cannot have waited for."""
    program = Program()
    for _ in range(2):
        program.weak_store(MINE, DATA)
        program.fence(MINE, DEVICE)
        getattr(program, write)(MINE, FLAG, pc=_WRITES)
        program.load(FAR, FLAG, pc=_READS)
        program.fence(FAR, DEVICE)
    trace = program.trace
    *events, retired, _, end = trace
    assert retired.kind == EventKind.BLOCK_RETIRED
    far = Event(EventKind.BLOCK_RETIRED, 1, 0)
    again = next(event for event in events if event.pc == _WRITES)._replace(pc=pc)
    events += [far, again, Event(EventKind.BLOCK_RETIRED, 0, 0), end]
    found = judged(Trace.from_events(trace.header, events))
    assert bool(found.races) == bool(found.reported) == races
    assert found.reported <= found.races


@pytest.mark.parametrize("write", ["store", "atomic"])
@pytest.mark.parametrize(("behind", "races"), [(None, 1), (DATA, 1), (FLAG, 0)])
def test_write_over_a_read_is_a_race_if_its_warp_never_reads_it(write, behind, races):
    """Whatever else that warp learns of the writer, here by a barrier."""
    program = Program()
    program.load(NEAR, FLAG, pc=_READS)
    program.fence(MINE, DEVICE)
    getattr(program, write)(MINE, FLAG, pc=_WRITES)
    program.barrier(0)
    if behind is not None:
        program.load(NEAR, behind, pc=_READS)
    found = judged(program.trace)
    assert bool(found.reported) == races
    assert found.reported <= found.races


def test_slot_that_a_later_block_takes_keeps_its_races():
    """The second block of a slot is not ordered after the first."""
    program = Program(blocks=1, warps=1)
    program.weak_store(MINE, DATA)
    events = list(program.trace)
    end = events.index(Event(EventKind.BLOCK_RETIRED))
    placed = events[1]._replace(grid_block=1)
    access = events[2]._replace(pc=0x5000)
    events[end + 1 : end + 1] = [placed, access, Event(EventKind.BLOCK_RETIRED)]
    trace = Trace.from_events(program.trace.header, events)
    found = judged(trace)
    assert found.reported == found.races == {frozenset((0x1000, 0x5000))}


def test_clock_that_would_wrap_orders_all_before():
    program = Program()
    program.weak_store(MINE, DATA)
    for _ in range(20):
        program.fence(FAR, DEVICE)
    program.weak_load(FAR, DATA)
    trace = program.trace
    assert len(judged(trace).reported) == 1
    model, races = find_races(trace, params_for(trace, clock_bits=4))
    assert list(races) == []
    assert model.counters["clock_wraps"] > 0


def test_after_any_number_of_wraps_what_was_before_is_ordered():
    for fences in range(0, 40, 3):
        program = Program()
        program.weak_store(MINE, DATA)
        for _ in range(fences):
            program.fence(NEAR, DEVICE)
        program.weak_load(FAR, DATA)
        trace = program.trace
        model, races = find_races(trace, params_for(trace, clock_bits=4, epoch_bits=1))
        is_racy = bool(list(races))
        wraps = model.counters.get("clock_wraps", 0)
        # The end of a block is a marker, too: one wrap may be there.
        assert is_racy or wraps
        assert not (is_racy and wraps > 1), fences
    assert wraps == 3


@pytest.mark.parametrize("first", [30, 31, 32, 60])
def test_block_takes_any_warp_slots(first):
    """An SM has up to 64 warp slots, more than a warp has lanes."""
    params = CausalityParams(sm_count=1, warps_per_sm=64, ratio=1)
    model = Causality(params, Region(0, params.min_region_log2))
    model.run(Event(EventKind.KERNEL_BEGIN))
    model.run(Event(EventKind.BLOCK_PLACED, warp=first, warp_count=4))
    for pc, warp in ((0x10, first), (0x20, first + 3)):
        store = Event(EventKind.STORE, warp=warp, pc=pc, size=4, lanes=(Lane(0, DATA),))
        model.run(store)
    assert [(race.pc, race.owner_warp, race.warp) for race in model.races] == [
        (0x20, first, first + 3)
    ]
