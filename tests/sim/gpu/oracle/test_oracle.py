"""Pairs that the oracle orders, takes for races, or lists apart, by each rule."""

import pytest

from racetrap.golden_model.events import AtomicOp, MemoryOrder
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.oracle import CompiledOracle, OracleRule
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.sim.gpu.suites.micro.scheduler import FIXED_SCHEDULES, BlockPlacement, run_program
from tests.support.oracle.programs import BLOCK, DEVICE, SHARED, Program
from tests.support.oracle.random_traces import HEADER
from tests.support.ptx_oracle.oracle import PtxOracle

HERE, SAME_BLOCK, OTHER_BLOCK, THIRD_BLOCK = (0, 0), (0, 1), (1, 0), (2, 0)
DATA, FLAG = 0, 0x80
RELAXED, ACQUIRE, RELEASE, ACQ_REL = (
    MemoryOrder.RELAXED, MemoryOrder.ACQUIRE, MemoryOrder.RELEASE, MemoryOrder.ACQ_REL,
)  # fmt: skip
EXCH = AtomicOp.EXCH


@pytest.fixture
def program() -> Program:
    return Program(blocks=3)


def _races(program, rule=OracleRule.CAUSALITY):
    return [(race.kind.value, race.address) for race in CompiledOracle(rule).run(program.trace)]


def _strong(program, rule=OracleRule.CAUSALITY):
    result = CompiledOracle(rule).run(program.trace)
    return [(race.kind.value, race.address) for race in result.unordered_strong]


RACE = [("unordered", DATA)]


@pytest.mark.parametrize("release", [BLOCK, DEVICE])
@pytest.mark.parametrize("acquire", [BLOCK, DEVICE])
@pytest.mark.parametrize("reader", [SAME_BLOCK, OTHER_BLOCK])
def test_release_and_acquire_operations(program, release, acquire, reader):
    program.weak_store(HERE, DATA)
    program.store(HERE, FLAG, scope=release, order=RELEASE)
    program.load(reader, FLAG, scope=acquire, order=ACQUIRE)
    program.weak_load(reader, DATA)
    narrow = reader is OTHER_BLOCK and BLOCK in (release, acquire)
    assert [race for race in _races(program) if race[1] == DATA] == RACE * narrow


@pytest.mark.parametrize(
    ("before", "flag", "after", "ordered"),
    [
        (MemoryOrder.IMPLIED, RELAXED, MemoryOrder.IMPLIED, True),
        (ACQ_REL, RELAXED, ACQ_REL, True),
        (RELEASE, RELAXED, ACQUIRE, True),
        (ACQUIRE, RELAXED, RELEASE, False),
        (None, RELAXED, ACQ_REL, False),
        (ACQ_REL, RELAXED, None, False),
        (ACQ_REL, None, ACQ_REL, False),
    ],
)
def test_fences_about_a_flag(program, before, flag, after, ordered):
    program.weak_store(HERE, DATA)
    if before is not None:
        program.fence(HERE, DEVICE, order=before)
    if flag is None:
        program.weak_store(HERE, FLAG)
        program.weak_load(OTHER_BLOCK, FLAG)
    else:
        program.store(HERE, FLAG, order=flag)
        program.load(OTHER_BLOCK, FLAG, order=flag)
    if after is not None:
        program.fence(OTHER_BLOCK, DEVICE, order=after)
    program.weak_load(OTHER_BLOCK, DATA)
    assert [race for race in _races(program) if race[1] == DATA] == RACE * (not ordered)


def test_fences_alone_order_nothing(program):
    """The order in which sc fences happened to run need not be that of another execution."""
    program.weak_store(HERE, DATA)
    program.fence(HERE, DEVICE)
    program.fence(OTHER_BLOCK, DEVICE)
    program.weak_load(OTHER_BLOCK, DATA)
    assert _races(program) == RACE


def test_a_chain_of_atomics_hands_on_a_release(program):
    program.weak_store(HERE, DATA)
    program.atomic(HERE, FLAG, op=EXCH, order=RELEASE)
    program.atomic(THIRD_BLOCK, FLAG)
    program.atomic(OTHER_BLOCK, FLAG, order=ACQUIRE)
    program.weak_load(OTHER_BLOCK, DATA)
    assert _races(program) == []


def test_a_store_between_breaks_the_chain(program):
    program.weak_store(HERE, DATA)
    program.store(HERE, FLAG, order=RELEASE)
    program.load(THIRD_BLOCK, FLAG, order=RELAXED)
    program.store(THIRD_BLOCK, FLAG, order=RELAXED)
    program.load(OTHER_BLOCK, FLAG, order=ACQUIRE)
    program.weak_load(OTHER_BLOCK, DATA)
    assert _races(program) == RACE


def test_a_failed_compare_and_swap_reads_but_does_not_write(program):
    program.weak_store(HERE, DATA)
    program.store(HERE, FLAG, order=RELEASE)
    program.take(THIRD_BLOCK, FLAG, success=False)
    program.take(OTHER_BLOCK, FLAG, success=True, fence=DEVICE)
    program.weak_load(OTHER_BLOCK, DATA)
    assert _races(program) == []


def test_a_failed_compare_and_swap_is_a_release_operation(program):
    """A strong write behind it, to the same location, completes its pattern."""
    program.weak_store(HERE, DATA)
    program.atomic(HERE, FLAG, op=AtomicOp.CAS, value=1, success=False, order=ACQ_REL)
    program.store(HERE, FLAG, order=RELAXED)
    program.load(OTHER_BLOCK, FLAG, order=ACQUIRE)
    program.weak_load(OTHER_BLOCK, DATA)
    assert _races(program) == []


def test_the_last_block_may_reset_the_ticket(program):
    """Its own atomic observes the others, and it comes behind that."""
    for where in (HERE, THIRD_BLOCK, OTHER_BLOCK):
        program.atomic(where, FLAG)
    program.weak_store(OTHER_BLOCK, FLAG)
    assert _races(program) == []
    program.weak_load(HERE, FLAG)
    assert set(_races(program)) == {("unordered", FLAG)}


@pytest.mark.parametrize("form", [PtxOracle, CompiledOracle])
@pytest.mark.parametrize("stores", [1, 2])
def test_a_weak_store_that_an_atomic_of_its_thread_hands_on(program, form, stores):
    """Who observes the atomic is behind the last store before it, and not behind older ones."""
    for _ in range(stores):
        program.weak_store(HERE, DATA, pc=0x10)
    program.atomic(HERE, DATA)
    program.atomic(OTHER_BLOCK, DATA)
    program.weak_load(OTHER_BLOCK, DATA, pc=0x30)
    races = form(OracleRule.CAUSALITY).run(program.trace).races
    assert ((0x10, 0x30) in [(race.first.pc, race.second.pc) for race in races]) == (stores == 2)


def test_last_block_needs_a_fence_behind_the_ticket(program):
    program.weak_store(HERE, DATA)
    program.fence(HERE, DEVICE)
    program.atomic(HERE, FLAG)
    program.fence(OTHER_BLOCK, DEVICE)
    program.atomic(OTHER_BLOCK, FLAG)
    program.weak_load(OTHER_BLOCK, DATA)
    assert _races(program) == RACE
    program.fence(OTHER_BLOCK, DEVICE)
    program.weak_store(OTHER_BLOCK, DATA + 64)
    assert _races(program) == RACE


def test_unordered_strong_accesses_are_listed_apart(program):
    program.store(HERE, DATA, order=RELAXED)
    program.load(OTHER_BLOCK, DATA, order=RELAXED)
    program.atomic(THIRD_BLOCK, FLAG)
    program.atomic(OTHER_BLOCK, FLAG)
    for rule in OracleRule:
        assert _races(program, rule) == []
        assert _strong(program, rule) == [("unordered-strong", DATA), ("unordered-strong", FLAG)]


@pytest.mark.parametrize("acquires", [False, True])
def test_volatile_accesses_race_unless_patterns_synchronise_by_them(program, acquires):
    program.weak_store(HERE, DATA)
    program.fence(HERE, DEVICE)
    program.load(OTHER_BLOCK, FLAG, pc=0x77)
    program.store(HERE, FLAG)
    program.load(OTHER_BLOCK, FLAG, pc=0x77)
    if acquires:
        program.fence(OTHER_BLOCK, DEVICE)
    assert _races(program) == ([] if acquires else [("unordered", FLAG)])
    assert _races(program, OracleRule.PTX) == []


@pytest.mark.parametrize("missing", [None, "acquire", "release"])
def test_volatile_data_between_the_fences_of_a_lock(program, missing):
    """It stands by chance in release and acquire patterns; the lock tells as much."""
    for where in (HERE, OTHER_BLOCK, THIRD_BLOCK):
        program.take(where, FLAG)
        if missing != "acquire":
            program.fence(where, DEVICE)
        program.load(where, DATA, pc=0x70)
        program.store(where, DATA, pc=0x78)
        if missing != "release":
            program.fence(where, DEVICE)
        program.free(where, FLAG)
    assert {race[1] for race in _races(program)} == ({DATA} if missing else set())
    assert _races(program, OracleRule.PTX) == []


def test_two_volatile_flags_of_one_fence(program):
    """Neither tells more than the other."""
    program.weak_store(HERE, DATA)
    program.fence(HERE, DEVICE)
    program.load(OTHER_BLOCK, FLAG, pc=0x77)
    program.load(OTHER_BLOCK, FLAG + 64, pc=0x78)
    for flag in (FLAG, FLAG + 64):
        program.store(HERE, flag)
    for flag, pc in ((FLAG, 0x77), (FLAG + 64, 0x78)):
        program.load(OTHER_BLOCK, flag, pc=pc)
    program.fence(OTHER_BLOCK, DEVICE)
    program.weak_load(OTHER_BLOCK, DATA)
    assert _races(program) == []


@pytest.mark.parametrize("form", [PtxOracle, CompiledOracle])
@pytest.mark.parametrize(
    ("fences", "racy"),
    [
        ((DEVICE, DEVICE), set()),
        ((None, DEVICE), {0x20}),
        ((BLOCK, DEVICE), {0x20}),
        ((DEVICE, None), set()),
        ((None, None), {0x20, 0x21}),
    ],
)
def test_a_volatile_flag_that_is_stored_again_before_anyone_looks(program, form, fences, racy):
    for number, fence in enumerate(fences):
        program.weak_store(HERE, DATA + 8 * number)
        if fence is not None:
            program.fence(HERE, fence)
        program.store(HERE, FLAG, pc=0x20 + number)
    program.load(OTHER_BLOCK, FLAG, pc=0x30)
    program.fence(OTHER_BLOCK, DEVICE)
    races = form(OracleRule.CAUSALITY).run(program.trace).races
    assert {race.first.pc for race in races} == racy


def test_a_volatile_unlock(program):
    """Its pattern tells more than that of the data in the section."""
    for where in (HERE, OTHER_BLOCK):
        program.take(where, FLAG, fence=None)
        program.load(where, DATA, pc=0x70)
        program.store(where, DATA, pc=0x78)
        program.fence(where, DEVICE)
        program.store(where, FLAG, pc=0x80)
    assert {race[1] for race in _races(program)} == {DATA}


def test_lanes_of_one_volatile_store(program):
    program.store(HERE, DATA, lanes=3, values=(1, 2))
    assert _races(program) == [("same-instruction", DATA)]
    assert _races(program, OracleRule.PTX) == []


def test_scopes_that_leave_the_other_thread_out(program):
    program.atomic(HERE, DATA, BLOCK)
    program.atomic(SAME_BLOCK, DATA, BLOCK)
    assert _races(program) == []
    program.atomic(OTHER_BLOCK, DATA, DEVICE)
    assert {race[0] for race in _races(program)} == {"scoped-atomic"}


def test_accesses_of_two_sizes_are_never_both_strong(program):
    program.store(HERE, DATA, size=8, order=RELAXED)
    program.load(OTHER_BLOCK, DATA + 4, order=RELAXED)
    assert _races(program) == [("unordered", DATA + 4)]
    program.load(OTHER_BLOCK, DATA + 8, order=RELAXED)
    assert len(_races(program)) == 1


def test_barrier_and_shared_memory(program):
    program.weak_store(HERE, DATA, **SHARED)
    program.weak_load(OTHER_BLOCK, DATA, **SHARED)
    program.barrier(0)
    program.weak_load(SAME_BLOCK, DATA, **SHARED)
    assert _races(program) == []
    program.weak_store(HERE, DATA, **SHARED)
    assert _races(program) == RACE


def test_kernels_of_a_stream_are_ordered(program):
    program.weak_store(HERE, DATA)
    program.next_kernel()
    program.weak_load(OTHER_BLOCK, DATA)
    assert _races(program) == []


def test_lanes_of_one_instruction(program):
    program.weak_store(HERE, DATA, lanes=3, values=(1, 2))
    assert _races(program) == [("same-instruction", DATA)]


def test_traces_without_orders_tell_them_by_the_fences_of_an_access(program):
    program.weak_store(HERE, DATA)
    program.fence(HERE, DEVICE, pc=0x500)
    program.store(HERE, FLAG, pc=0x500)
    program.load(OTHER_BLOCK, FLAG, pc=0x600)
    program.fence(OTHER_BLOCK, DEVICE, pc=0x600)
    program.weak_load(OTHER_BLOCK, DATA)
    assert _races(program) == []
    assert _strong(program) == []


#: Race-free micro-benchmarks that PTX's model calls racy: their readers acquire nothing, and one
#: hands on data by a block fence to another block.
WITHOUT_ACQUIRE = {
    "norace_interblock_fence_raw",
    "norace_interwarp-block_fence-atom_hrd-indirect",
    "norace_interwarp-block_fence_hrf-indirect",
    "norace_interwarp_blkfence_raw",
    "norace_interwarp_fence_raw",
}
#: Racy ones with a race by PTX's letter: all others access their data by volatile accesses.
RACY_BY_THE_LETTER = {
    "norace_interwarp-block_fence-atom_hrd-indirect",
    "race_interblock_blkatom",
    "race_interblock_blklock_waw",
}


@pytest.mark.parametrize("name", MICRO_BENCHMARKS)
def test_micro_benchmarks_by_both_rules(name):
    benchmark = MICRO_BENCHMARKS[name]
    found = dict.fromkeys(OracleRule, False)
    for schedule in FIXED_SCHEDULES.values():
        events = run_program(benchmark, schedule, BlockPlacement.OTHER_SMS)
        for rule in OracleRule:
            races = CompiledOracle(rule).run(Trace.from_events(HEADER, events))
            found[rule] |= bool(len(races))
    causality = benchmark.racy or name in WITHOUT_ACQUIRE
    assert found[OracleRule.CAUSALITY] == causality
    assert found[OracleRule.PTX] == (name in RACY_BY_THE_LETTER)
