"""W-ReEnact: what it finds is real, and what displacement and invalidation take is missed."""

from __future__ import annotations

import pytest

from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace
from racetrap.golden_model.reenact.reenact import Reenact
from racetrap.golden_model.trace.threads.events import ThreadEvent, ThreadEventKind
from racetrap.sim.cpu.random_run import random_run, trace_of

K = ThreadEventKind
X = 0x10000
SETS = 128  # of the paper's cache


def load(thread: int, address: int = X, size: int = 4, pc: int = 1) -> ThreadEvent:
    return ThreadEvent(K.LOAD, thread, address=address, size=size, pc=pc)


def store(thread: int, address: int = X, size: int = 4, pc: int = 2) -> ThreadEvent:
    return ThreadEvent(K.STORE, thread, address=address, size=size, pc=pc)


def races(threads: int, *events: ThreadEvent, cores: int = 8) -> list[ThreadRace]:
    return Reenact(cores).run(trace_of(threads, *events))


@pytest.mark.parametrize("seed", range(40))
def test_every_race_is_real(seed: int) -> None:
    trace = random_run(seed, threads=2 + seed % 5, events=800, sync=(0.1, 0.3, 0.5)[seed % 3])
    exact = HappensBefore().run(trace)
    found = set(Reenact(cores=1 + seed % 6, cache_bytes=256, ways=2).run(trace))
    assert found <= set(exact.races) - exact.involves_atomic
    assert found


def test_race_in_another_cache() -> None:
    expected = [ThreadRace(X, RaceParty(0, 1, 1, False), RaceParty(1, 1, 2, True))]
    assert races(2, load(0), store(1)) == expected
    assert races(2, store(1), load(0)) == expected
    assert races(2, store(0), store(1)) != []
    assert races(2, load(0), load(1)) == []


def test_race_in_the_own_cache_when_threads_share_it() -> None:
    assert len(races(2, store(0), load(1), cores=1)) == 1


def test_other_words_of_a_line_do_not_race() -> None:
    assert races(2, store(0, X), store(1, X + 4)) == []


def test_other_bytes_of_a_word_do_not_race() -> None:
    assert races(2, store(0, X, 1), store(1, X + 1, 1)) == []
    assert len(races(2, store(0, X, 2), store(1, X + 1, 1))) == 1


def test_ordered_accesses_do_not_race() -> None:
    def lock(kind: int, thread: int) -> ThreadEvent:
        return ThreadEvent(kind, thread, address=0x50)

    section = [lock(K.ACQUIRE, 0), store(0), lock(K.RELEASE, 0), lock(K.ACQUIRE, 1), store(1)]
    assert races(2, *section) == []


def test_displaced_timestamps_are_lost() -> None:
    conflicting = [load(0, X + 64 * SETS * way) for way in range(1, 5)]
    assert len(races(2, store(0), *conflicting[:3], load(1))) == 1
    assert races(2, store(0), *conflicting, load(1)) == []
    # A use in between saves the line: the one used longest ago is displaced.
    used = [*conflicting[:3], load(0), conflicting[3]]
    assert len(races(2, store(0), *used, load(1))) == 1


def test_invalidated_timestamps_are_lost() -> None:
    """Thread 1's write to the same line takes thread 0's timestamps of the other word away."""
    assert len(races(3, store(0), store(2))) == 1
    assert races(3, store(0), store(1, X + 4), store(2)) == []


def test_a_write_to_a_shared_line_is_a_coherence_action() -> None:
    found = races(2, load(0), load(1), store(1))
    assert [(race.first.pc, race.second.pc) for race in found] == [(1, 2)]


def test_a_hit_is_silent() -> None:
    """Thread 0 has the line alone again; thread 1's copy with its timestamp has gone."""
    found = races(2, load(1), load(0, X + 4), store(0, X + 4), store(0))
    assert found == []


def test_the_watchpoint_finds_all_instructions_of_the_epochs() -> None:
    found = races(2, load(0, pc=3), store(0, pc=4), store(1, pc=5), load(1, pc=6))
    assert {(race.first.pc, race.second.pc) for race in found} == {(3, 5), (4, 5), (4, 6)}


def test_an_access_may_cross_lines() -> None:
    found = races(2, store(0, X + 60, 8), load(1, X + 56, 16))
    assert [race.address for race in found] == [X + 60, X + 64]


def test_atomics_and_uncollected_accesses_only_move_lines() -> None:
    update = ThreadEvent(K.ATOMIC_UPDATE, 1, address=X + 8, size=4)
    off, on = ThreadEvent(K.COLLECT_OFF, 1), ThreadEvent(K.COLLECT_ON, 1)
    assert races(3, store(0), update, store(2)) == []
    assert races(3, store(0), off, store(1), on, load(2)) == []


def test_new_memory_has_no_timestamps() -> None:
    again = ThreadEvent(K.ALLOCATE, 1, address=X, value=4)
    assert races(2, store(0), again, store(1)) == []
    assert len(races(2, store(0, X + 4), again, store(1, X + 4))) == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cores": 0}, "Number of cores must be at least 1, not 0"),
        ({"line_bytes": 48}, "Size of a line must be a power of two from 4 on, not 48"),
        ({"cache_bytes": 1000}, "must be a multiple of 4 lines of 64 bytes, not 1000"),
        ({"ways": 0}, "must be a multiple of 0 lines of 64 bytes, not 32768"),
    ],
)
def test_wrong_parameters(parameters: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Reenact(**parameters)
