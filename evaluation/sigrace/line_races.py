"""Races between threads of a program, between lines of its sources."""

from __future__ import annotations

from collections.abc import Mapping

from racetrap.evaluation.line_pairs import LineRace, Side, place_of
from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace

__all__ = ["thread_race"]


def thread_race(race: ThreadRace, locations: Mapping[int, str], instances: int = 1) -> LineRace:
    """A race of two threads.

    Parameters
    ----------
    race : ThreadRace
        The race.
    locations : mapping of int to str
        Source places of program counters.
    instances : int
        How many are like it.
    """

    def side(party: RaceParty) -> Side:
        access = "store" if party.is_write else "load"
        return Side(
            place_of(party.pc, locations), access, f"thread {party.thread}, epoch {party.epoch}"
        )

    return LineRace(
        side(race.first), side(race.second), "unordered", "no synchronisation orders them",
        "inter-thread", f"address {race.address:#x}", instances,
        is_ordered=False,
    )  # fmt: skip
