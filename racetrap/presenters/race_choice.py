"""Choice of the races that are shown: of each group the first, or all of them, up to a number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from rich.console import Console

from racetrap.presenters.json_array import JsonArray

#: Groups that are printed if nothing else is asked for.
MOST_SHOWN = 20

_Race = TypeVar("_Race")


@dataclass(frozen=True)
class RaceChoice:
    """What a user wants to see of the races.

    Parameters
    ----------
    shows_all : bool
        Whether every race is printed, not only the first of each group and of ``MOST_SHOWN``
        groups.
    limit : int or None
        How many are printed and written at most.
    has_json : bool
        Whether they are also written as data.
    shows_notes : bool
        Whether what is no finding is printed, too.
    own_code : bool
        Whether functions of system and library headers are folded.
    """

    shows_all: bool = False
    limit: int | None = None
    has_json: bool = False
    shows_notes: bool = False
    own_code: bool = False

    @property
    def most_shown(self) -> int | None:
        """How many groups, or races if all are shown, are printed at most."""
        if self.limit is not None or self.shows_all:
            return self.limit
        return MOST_SHOWN


@dataclass
class Group(Generic[_Race]):
    """Equal races: the first, their number, and their places if places are distinguished."""

    first: _Race
    count: int = 0
    places: set[int] = field(default_factory=set)


class RaceList(Generic[_Race]):
    """Races as they come; memory grows with the number of groups alone.

    Parameters
    ----------
    console : Console
        Where to print.
    choice : RaceChoice
        What to print, and whether there is data to be written.
    key : callable
        What races of one group have in common.
    show : callable
        Prints a race: its number among those printed, the race, and how many are like it.
    to_dict : callable
        A race as plain data.
    place : callable, optional
        Where a race is; a group then counts its places, not its races.

    Attributes
    ----------
    count : int
        Races so far.
    groups : dict
        Groups by key, in the order of their first races.
    json : JsonArray
        The races as data, up to the limit; empty without JSON.
    """

    def __init__(
        self, console: Console, choice: RaceChoice, key: Callable[[_Race], Any],
        show: Callable[[int, _Race, int], object], to_dict: Callable[[_Race], Mapping[str, object]],
        place: Callable[[_Race], int] | None = None,
    ) -> None:  # fmt: skip
        self._console, self._choice = console, choice
        self._key, self._show, self._to_dict, self._place = key, show, to_dict, place
        self.count = 0
        self.groups: dict[Any, Group[_Race]] = {}
        self.json = JsonArray()

    def take(self, race: _Race) -> None:
        """Count a race; print and keep it if that is wanted now."""
        number, key = self.count, self._key(race)
        self.count += 1
        group = self.groups.setdefault(key, Group(race))
        if self._place is None:
            group.count += 1
        else:
            group.places.add(self._place(race))
            group.count = len(group.places)
        if self._is_shown(number):
            if self._choice.has_json:
                self.json.append(self._to_dict(race))
            if self._choice.shows_all:
                self._show(number, race, 1)

    def take_all(self, races: Iterable[_Race]) -> None:
        """Take each of them."""
        for race in races:
            self.take(race)

    def finish(self) -> None:
        """Print the groups, unless every race has been printed, and what was left out."""
        shown = self.count if self._choice.shows_all else len(self.groups)
        if not self._choice.shows_all:
            for number, group in enumerate(self._first_groups()):
                self._show(number, group.first, group.count)
        most = self._choice.most_shown
        if most is not None and shown > most:
            what = "races" if self._choice.shows_all else "groups of races"
            self._console.print(f"Not shown: {shown - most} more {what} (--limit N|all).\n")

    def _first_groups(self) -> Iterator[Group[_Race]]:
        yield from list(self.groups.values())[: self._choice.most_shown]

    def _is_shown(self, number: int) -> bool:
        return self._choice.limit is None or number < self._choice.limit


def instances_text(count: int) -> str:
    """How many races are like the one that is printed; empty for one."""
    return "" if count == 1 else f", the first of {count} like it"
