"""Policies of rollback on small programs."""

from __future__ import annotations

from racetrap.evaluation.sigrace.policies import CHOSEN, PAPERS, POLICIES, compare_policies
from racetrap.evaluation.sigrace.races import RaceCount
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.program_traces import program_trace
from tests.evaluation.sigrace.test_races import locked
from tests.support.sigrace.programs import ThreadProgram

#: Signatures of two filters with 16 bits, which conflict for nothing.
COARSE = SigraceParams(lsb_bits=8, filters=2, filter_bits=16, log_depth=1)


def scattered(is_racy: bool) -> ThreadTrace:
    """Threads whose blocks conflict, each time for nothing, and then with a race if wanted."""
    program = ThreadProgram(2)
    for _ in range(3):
        for thread in range(2):
            for place in range(30):
                program.store(thread, 0x1000_0000 * (thread + 1) + 0x104 * place)
            program.synchronise(thread)
    if is_racy:
        for thread in range(2):
            program.store(thread, 0x5000, pc=0x40 + thread)
    return program.trace()


def test_only_rings_execute_nothing_again_for_nothing() -> None:
    found = compare_policies(scattered(True), COARSE, ())
    assert list(found) == list(POLICIES)
    papers, ring = found[PAPERS], found[CHOSEN]
    assert papers.races == ring.races == RaceCount(1, 1)
    assert papers.missing == ring.missing == RaceCount(0, 0)
    assert papers.repeated > papers.repeated_for_nothing > 0
    assert ring.repeated > ring.repeated_for_nothing == 0
    assert papers.first_race is not None
    assert ring.first_race is not None
    assert papers.first_race.overhead > ring.first_race.overhead > 0
    assert ring.repeated == ring.statistics.repeated


def test_a_late_answer_misses_races() -> None:
    """The log holds one conflict, a false one, until the end."""
    late = compare_policies(scattered(True), COARSE, ())["checkpoint"]
    assert (late.races, late.missing) == (RaceCount(0, 0), RaceCount(1, 1))
    assert late.first_race is None


def test_deeper_queues_find_what_has_left_the_queue() -> None:
    """The earlier store is 20 blocks old when the other thread's comes."""
    program = ThreadProgram(2)
    program.store(0, 0x5000)
    for place in range(20):
        program.synchronise(0)
        program.store(0, 0x1000_0000 + 4 * place)
    program.synchronise(0)
    program.store(1, 0x5000)
    found = compare_policies(program.trace(), SigraceParams(), ())
    assert found[CHOSEN].races == RaceCount(0, 0)
    deeper = [name for name in POLICIES if "queues" in name]
    assert [found[name].races for name in deeper] == [RaceCount(1, 1)] * 2


def test_a_program_without_a_race_has_one_taken_in() -> None:
    trace = locked(known=False)
    alone = compare_policies(trace, SigraceParams(), ())
    found = compare_policies(trace, SigraceParams(), range(1, 3))
    for name in (PAPERS, CHOSEN):
        assert (alone[name].first_race, alone[name].races) == (None, RaceCount(0, 0))
        assert found[name].races == RaceCount(2, 3)
        assert found[name].first_race is not None
        assert found[name].repeated > found[name].statistics.repeated == 0


def test_nothing_to_take_out() -> None:
    found = compare_policies(ThreadProgram(2).trace(), SigraceParams(), range(3))
    assert {each.first_race for each in found.values()} == {None}


def test_a_recorded_program_loses_no_race_to_rings() -> None:
    found = compare_policies(program_trace("cholesky", "tiny"), SigraceParams(), ())
    papers, ring = found[PAPERS], found[CHOSEN]
    assert ring.missing == RaceCount(0, 0)
    assert ring.races.static == papers.races.static > 0
    # No conflict is dropped; whether one more shows depends on where the compiler puts data.
    assert ring.races.dynamic >= papers.races.dynamic
    assert ring.statistics.conflicts_unheld == ring.repeated_for_nothing == 0
    assert papers.repeated_for_nothing > 0
    assert ring.statistics.overhead < papers.statistics.overhead / 2
