"""Lists of races: memory follows the groups, not the races."""

import tracemalloc

from rich.console import Console

from racetrap.presenters.race_choice import RaceChoice, RaceList


def _races(choice):
    return RaceList(
        Console(quiet=True), choice, lambda race: race % 3, lambda *_: None,
        lambda race: {"number": race, "text": "x" * 100},
    )  # fmt: skip


def _peak(count):
    tracemalloc.start()
    races = _races(RaceChoice(has_json=True))
    races.take_all(range(count))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert races.count == count
    return peak


def test_memory_is_constant():
    assert _peak(20_000) < 1.2 * _peak(2000)


def test_groups():
    races = _races(RaceChoice())
    races.take_all(range(10))
    assert {key: (group.first, group.count) for key, group in races.groups.items()} == {
        0: (0, 4), 1: (1, 3), 2: (2, 3),
    }  # fmt: skip
