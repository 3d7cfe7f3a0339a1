"""SigRace over small programs, one for each situation that the paper names."""

import pytest

from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace
from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.signature import signature_hash
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.events import MemoryOrder, ThreadEventKind
from tests.support.sigrace.programs import ThreadProgram

#: Signatures of two filters with 16 bits: addresses alias soon.
COARSE = {"lsb_bits": 8, "filters": 2, "filter_bits": 16, "form": "hashed"}


def run(program, environment="fixed", interval=1_000_000, unbounded=False, **params):
    params = {"cores": 4, "threads": 4, **params}
    sigrace = Sigrace(SigraceParams(**params), Environment(environment), interval, unbounded)
    return sigrace.run(program.trace())


def race(address, one, other):
    """Race of two parties, each (thread, epoch, pc, is_write)."""
    return ThreadRace.of(address, RaceParty(*one), RaceParty(*other))


def test_race_with_both_instructions():
    program = ThreadProgram(2)
    program.store(0, 0x1000, pc=0x40)
    program.load(1, 0x1000, pc=0x48)
    result = run(program)
    assert result.races == [race(0x1000, (0, 1, 0x40, True), (1, 1, 0x48, False))]
    assert (result.conflicts, result.false_positives) == (1, 0)


def test_synchronised_accesses_do_not_race():
    program = ThreadProgram(2)
    for thread in (0, 1, 0):
        program.lock(thread)
        program.store(thread, 0x1000)
        program.unlock(thread)
    result = run(program)
    assert result.races == []
    assert result.conflicts == 0
    assert result.statistics.rollbacks == {}


def test_two_loads_do_not_race():
    program = ThreadProgram(2)
    program.load(0, 0x1000)
    program.load(1, 0x1000)
    assert run(program).conflicts == 0


def test_conflict_with_a_block_of_an_older_epoch():
    """The partner has synchronised four times since: it is replayed to the block's own epoch."""
    program = ThreadProgram(2)
    program.store(0, 0x1000, pc=0x40)
    program.synchronise(0)
    program.synchronise(0)
    program.store(0, 0x2000)
    program.load(1, 0x1000, pc=0x48)
    result = run(program)
    assert result.races == [race(0x1000, (0, 1, 0x40, True), (1, 1, 0x48, False))]


def alias(params):
    """A granule with the bits of 0x1000, which is another one."""
    bits_of = signature_hash(params).granule
    return next(a for a in range(0x1004, 1 << 20, 4) if bits_of(a) == bits_of(0x1000))


def test_false_positive_by_aliasing():
    program = ThreadProgram(2)
    program.store(0, 0x1000)
    program.store(1, alias(SigraceParams(**COARSE)))
    result = run(program, **COARSE)
    assert (result.races, result.conflicts, result.false_positives) == ([], 1, 1)
    assert result.statistics.repeated_for_nothing == result.statistics.repeated > 0
    assert result.statistics.first_race is None


def test_a_race_elsewhere_does_not_explain_a_false_positive():
    """Two conflicts of the same epochs: one is a race, the other one only an alias."""
    params = SigraceParams(**COARSE)
    bits_of = signature_hash(params).granule
    other = next(a for a in range(0x2000, 1 << 20, 4) if not bits_of(a) & bits_of(0x1000))
    program = ThreadProgram(2)
    program.store(0, 0x1000, pc=0x40)
    program.store(0, other, pc=0x44)
    program.store(1, alias(params), pc=0x48)
    program.store(1, other, pc=0x4C)
    result = run(program, **COARSE, block_instructions=1, log_blocks=4)
    assert [found.static_key for found in result.races] == [(0x44, 0x4C)]
    assert (result.conflicts, result.false_positives) == (2, 1)


def test_addresses_that_differ_above_the_signature_are_told_apart_by_the_handler():
    program = ThreadProgram(2)
    program.store(0, 0x7F00_0000_1000)
    program.store(1, 0x7F01_0000_1000)
    program.store(0, 0x7F00_FFFF_FFFE, pc=0x50)
    program.store(1, 0x7F01_0000_0000, pc=0x58)
    result = run(program)
    assert [(found.address, *found.static_key) for found in result.races] == [
        (0x7F01_0000_0000, 0x50, 0x58)
    ]


def test_several_conflicts_in_one_rollback():
    program = ThreadProgram(3)
    program.store(0, 0x1000, pc=0x40)
    program.store(1, 0x2000, pc=0x44)
    program.load(2, 0x1000, pc=0x48)
    program.load(2, 0x2000, pc=0x4C)
    program.synchronise(0)
    program.synchronise(1)
    program.synchronise(2)
    result = run(program)
    assert [found.static_key for found in result.races] == [(0x40, 0x48), (0x44, 0x4C)]
    assert result.statistics.rollbacks == {"sync": 1}
    assert (result.conflicts, result.statistics.passes) == (2, 1)


def test_incompatible_stops_take_separate_passes():
    """Thread 0 must stop at two of its epochs."""
    program = ThreadProgram(2)
    program.store(0, 0x1000, pc=0x40)
    program.synchronise(0)
    program.store(0, 0x2000, pc=0x44)
    program.synchronise(0)
    program.load(1, 0x1000, pc=0x48)
    program.load(1, 0x2000, pc=0x4C)
    result = run(program)
    assert [found.static_key for found in result.races] == [(0x40, 0x48), (0x44, 0x4C)]
    assert (sum(result.statistics.rollbacks.values()), result.statistics.passes) == (1, 2)


def test_analysis_goes_on_to_the_end_of_the_epoch():
    """The second race comes after the rollback, and its conflict is then known already."""
    program = ThreadProgram(2)
    program.store(0, 0x1000, pc=0x40, instructions=10)
    program.store(0, 0x1000, pc=0x44, instructions=10)
    program.load(1, 0x1000, pc=0x48, instructions=10)
    program.load(1, 0x1000, pc=0x4C, instructions=10)
    result = run(program, block_instructions=10, log_blocks=1)
    assert {found.static_key for found in result.races} == {
        (0x40, 0x48), (0x40, 0x4C), (0x44, 0x48), (0x44, 0x4C),
    }  # fmt: skip
    assert sum(result.statistics.rollbacks.values()) == 1
    again = run(program, block_instructions=10, log_depth=1)
    assert again.races == result.races
    assert again.statistics.rollbacks == {"full": 1}
    assert (again.statistics.conflicts_dropped, again.statistics.conflicts_ignored) == (2, 1)


def test_full_log_loses_conflicts_and_counts_them():
    program = ThreadProgram(3)
    program.store(0, 0x1000, pc=0x40)
    program.store(1, 0x2000, pc=0x44)
    program.synchronise(0)
    program.synchronise(1)
    program.load(2, 0x1000, pc=0x48)
    program.load(2, 0x2000, pc=0x4C)
    result = run(program, log_depth=1)
    assert [found.static_key for found in result.races] == [(0x40, 0x48)]
    assert result.statistics.conflicts_dropped == 1
    ideal = run(program, log_depth=1, unbounded=True)
    assert [found.static_key for found in ideal.races] == [(0x40, 0x48), (0x44, 0x4C)]


def test_overflowing_queue_loses_a_race():
    program = ThreadProgram(2)
    program.store(0, 0x1000, pc=0x40)
    program.synchronise(0)
    program.store(0, 0x2000)
    program.synchronise(0)
    program.load(1, 0x1000, pc=0x48)
    result = run(program, history_depth=1)
    assert result.races == []
    assert result.statistics.lost == {(1, 0): 1}
    assert len(run(program, history_depth=2).races) == 1
    assert len(run(program, history_depth=1, unbounded=True).races) == 1


def test_checkpoint_between_the_accesses():
    program = ThreadProgram(2)
    program.store(0, 0x1000)
    program.store(0, 0x2000, instructions=100)
    program.load(1, 0x1000, instructions=100)
    result = run(program, interval=101)
    assert result.races == []
    assert result.statistics.checkpoints == 1
    assert run(program, interval=101, unbounded=True).races == []
    assert len(run(program).races) == 1


def test_checkpoint_ends_blocks_and_analyses_what_waits():
    """An epoch that the checkpoint cuts: what comes later in it is seen by Analysis alone."""
    program = ThreadProgram(2)
    program.store(0, 0x1000, pc=0x40)
    program.load(1, 0x1000, pc=0x48)
    program.load(1, 0x2000, instructions=100)
    program.load(1, 0x1000, pc=0x4C)
    result = run(program, interval=100)
    assert result.statistics.rollbacks == {"checkpoint": 1}
    assert [found.static_key for found in result.races] == [(0x40, 0x48), (0x40, 0x4C)]


def test_reexecution_starts_at_the_checkpoint():
    program = ThreadProgram(2)
    program.store(0, 0x1000, pc=0x30, instructions=100)
    program.store(0, 0x2000, pc=0x40, instructions=3)
    program.load(1, 0x2000, pc=0x48, instructions=5)
    program.load(1, 0x1000, pc=0x4C, instructions=7)
    result = run(program, interval=100)
    statistics = result.statistics
    assert [found.static_key for found in result.races] == [(0x40, 0x48)]
    assert statistics.checkpoints == 1
    assert (statistics.reexecuted, statistics.analysed) == (0, 3 + 5 + 7)


def test_instructions_executed_again():
    """Conflicting threads to their stops, another one as far as it came."""
    program = ThreadProgram(3)  # an instruction for each BEGIN, and for each CREATE of thread 0
    program.synchronise(0, instructions=10)
    program.store(0, 0x1000, instructions=20)
    program.synchronise(2, instructions=40)
    program.load(2, 0x3000, instructions=3)
    program.load(1, 0x1000, instructions=80)
    statistics = run(program).statistics
    assert statistics.instructions == 1 + 2 + 2 + 20 + 20 + 80 + 3 + 80
    # Thread 2 has ended when the end of thread 1 asks for the rollback.
    assert statistics.reexecuted == (1 + 2 + 20) + 1 + (1 + 80 + 3)
    assert statistics.analysed == 20 + 80
    assert statistics.overhead == (108 + 100) / 208


def test_threads_that_need_what_follows_a_stop_wait_there():
    """Thread 2 has locked what thread 0 unlocks after its conflicting epoch."""
    program = ThreadProgram(3)
    program.store(0, 0x1000, instructions=10)
    program.lock(0)
    program.unlock(0)
    program.load(2, 0x3000, instructions=40)
    program.lock(2)
    program.load(1, 0x1000, instructions=80)
    program.unlock(2)
    statistics = run(program).statistics
    # Thread 0 to its epoch 2, whose CREATE is its third event; 1 and 2 after their BEGIN.
    assert statistics.reexecuted == 3 + 1 + 1
    assert statistics.analysed == 10 + 1 + 80


def test_costs_until_the_first_race():
    program = ThreadProgram(2)
    program.store(0, 0x1000)
    program.store(1, alias(SigraceParams(**COARSE)))
    program.lock(0)
    program.unlock(0)
    program.lock(1)
    program.unlock(1)
    program.store(0, 0x1000)
    program.store(1, 0x1000)
    statistics = run(program, **COARSE).statistics
    first = statistics.first_race
    assert first.committed == statistics.instructions == 11
    assert (first.repeated, first.overhead) == (statistics.repeated, statistics.overhead)
    assert 0 < first.repeated_for_nothing == statistics.repeated_for_nothing < first.repeated


def test_what_is_not_collected_is_not_reported():
    program = ThreadProgram(2)
    program.store(0, 0x1000)
    program.add(ThreadEventKind.ATOMIC_LOAD, 1, 0x1000, 4, MemoryOrder.RELAXED)
    program.add(ThreadEventKind.COLLECT_OFF, 1)
    program.load(1, 0x1000)
    program.add(ThreadEventKind.COLLECT_ON, 1)
    result = run(program)
    assert (result.conflicts, result.races) == (0, [])


def test_memory_allocated_anew_is_other_memory():
    program = ThreadProgram(2)
    program.add(ThreadEventKind.ALLOCATE, 0, 0x1000, value=64)
    program.store(0, 0x1000)
    program.add(ThreadEventKind.FREE, 0, 0x1000)
    program.add(ThreadEventKind.ALLOCATE, 1, 0x1000, value=64)
    program.store(1, 0x1000)
    result = run(program)
    assert (result.races, result.false_positives) == ([], 1)


def rounds(threads, turns):
    """Every thread stores to a word of its own, over and over, and each at last to a common one."""
    program = ThreadProgram(threads)
    for turn in range(turns):
        for thread in range(threads):
            program.store(thread, 0x1000 * (thread + 1), pc=0x40, instructions=10)
            if turn % 3 == 0:
                program.synchronise(thread, pc=0x44)
    for thread in range(threads):
        program.store(thread, 0x100, pc=0x48)
    return program


@pytest.mark.parametrize(
    ("environment", "cores", "contexts"),
    [
        ("fixed", 5, 1),
        ("migration", 5, 1),
        ("multiplex", 2, 1),
        ("multithreaded", 1, 2),
        ("multithreaded", 2, 2),
    ],
)
def test_environments(environment, cores, contexts):
    """More threads than cores, threads that move: the same races, over shorter blocks."""
    params = SigraceParams(cores=cores, contexts=contexts, threads=5)
    sigrace = Sigrace(params, Environment(environment, quantum=50, seed=3), unbounded=True)
    result = sigrace.run(rounds(5, 12).trace())
    assert {(found.first.thread, found.second.thread) for found in result.races} == {
        (one, other) for other in range(5) for one in range(other)
    }
    assert {found.static_key for found in result.races} == {(0x48, 0x48)}
    assert result.statistics.messages == result.statistics.blocks


def test_too_many_epochs_for_the_counters():
    program = ThreadProgram(2)
    for _ in range(4):
        program.synchronise(1)  # epoch 9, and the thread's end makes 10
    with pytest.raises(ValueError, match="timestamp_bits must be at least 4 for the epochs"):
        run(program, timestamp_bits=3)
    assert run(program, timestamp_bits=4).races == []


def test_interval_must_be_positive():
    with pytest.raises(ValueError, match=r"Checkpoint interval must be from 1 to .*, not 0"):
        Sigrace(SigraceParams(), checkpoint_interval=0)


def test_too_many_threads():
    with pytest.raises(ValueError, match="threads, but the detector has only"):
        run(ThreadProgram(5))
