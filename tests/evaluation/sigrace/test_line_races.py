"""Races between threads, between lines of their sources."""

from racetrap.evaluation.sigrace.line_races import thread_race
from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace


def test_a_race_of_two_threads_has_no_order():
    race = ThreadRace.of(0x1000, RaceParty(1, 4, 8, True), RaceParty(0, 2, 9, False))
    found = thread_race(race, {8: "a.c:8"}, 5)
    assert [name for name, _ in found.sides] == ["one", "other"]
    assert (found.earlier.place, found.earlier.access) == ("pc 0x9", "load")
    assert (found.later.place, found.later.actor) == ("a.c:8", "thread 1, epoch 4")
    assert (found.instances, found.block_pairs, found.where) == (5, 0, "address 0x1000")
