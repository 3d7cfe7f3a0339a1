"""Races between threads, between lines of their sources."""

from racetrap.golden_model.call_stacks import Frame
from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace
from racetrap.golden_model.happens_before.race_context import RaceContext
from racetrap.golden_model.trace.threads.events import ThreadTraceHeader, Variable
from racetrap.verdict.threads.line_races import address_text, thread_race


def test_a_race_of_two_threads_has_no_order():
    race = ThreadRace.of(0x1000, RaceParty(1, 4, 8, True), RaceParty(0, 2, 9, False))
    found = thread_race(race, ThreadTraceHeader(threads=2, locations={8: "a.c:8"}), 5)
    assert [name for name, _ in found.sides] == ["one", "other"]
    assert (found.earlier.place, found.earlier.access) == ("pc 0x9", "load")
    assert (found.later.place, found.later.actor) == ("a.c:8", "thread 1, epoch 4")
    assert (found.instances, found.block_pairs, found.where) == (5, 0, "address 0x1000")


def test_sides_have_the_stacks_of_their_context():
    race = ThreadRace.of(0x1000, RaceParty(1, 4, 8, True), RaceParty(0, 2, 9, False))
    frames = {1: Frame(0, "main", ""), 2: Frame(1, "add", "a.c:3")}
    header = ThreadTraceHeader(threads=2, frames=frames)
    found = thread_race(race, header, 1, RaceContext((), (), None, 2, 0))
    assert (found.earlier.stack, found.later.stack) == ((frames[2], frames[1]), ())


def test_an_address_is_named_by_the_variables_of_its_granule():
    variables = {
        0x1001: Variable(1, "flag"), 0x1002: Variable(2, "count"), 0x1004: Variable(64, "cells"),
    }  # fmt: skip
    header = ThreadTraceHeader(threads=1, variables=variables)
    assert address_text(0x1000, header) == "0x1000 (flag, 1 byte or count, 2 bytes)"
    assert address_text(0x1004, header) == "0x1004 (cells, 64 bytes)"
    assert address_text(0x1040, header) == "0x1040 (byte 60 of cells, 64 bytes)"
    assert address_text(0x1044, header) == "0x1044"
