"""Choices of a run: whatever a memory model or a scheduler leaves open is asked of one object.

Option 0 is always what a sequentially consistent machine does; any other is a deviation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from random import Random
from typing import NamedTuple

__all__ = [
    "Asked",
    "Choices",
    "Deviation",
    "InOrder",
    "Kind",
    "RandomChoices",
    "ReplayedChoices",
    "Story",
]


class Kind(Enum):
    """What is chosen; the value is its name in files."""

    TURN = "turn"
    MESSAGE = "message"
    PLACE = "place"
    LATE = "late"
    HOLD = "hold"


class Story(NamedTuple):
    """What came of a choice.

    Parameters
    ----------
    origin : object
        Who had it: an access, or a warp.
    what : str
        What it did.
    other : object
        The access that it overtook or missed; empty if there is none.
    """

    origin: object
    what: str
    other: object = ""

    def __str__(self) -> str:
        return f"{self.origin} {self.what} {self.other}".strip()


class Deviation(NamedTuple):
    """A choice that was not the first option.

    Parameters
    ----------
    number : int
        Number of the choice in its run, among those of its kind.
    kind : Kind
        What was chosen.
    option, options : int
        The option taken, and how many there were.
    story : str
        What came of it, for people.
    """

    number: int
    kind: Kind
    option: int
    options: int
    story: str = ""


class Asked(NamedTuple):
    """A choice that a run had.

    Parameters
    ----------
    kind : Kind
        What was chosen.
    number : int
        Its number among those of its kind.
    options : int
        How many options there were.
    load : (int, int), optional
        Thread and address of the load that could be settled late.
    """

    kind: Kind
    number: int
    options: int
    load: tuple[int, int] | None


#: What is told of a choice about which nothing is known.
_UNTOLD = Story("", "")


class Choices(ABC):
    """Takes the choices of one run and keeps the deviations."""

    def __init__(self) -> None:
        #: Choices so far, by kind.
        self.counts = dict.fromkeys(Kind, 0)
        self.deviations: list[Deviation] = []
        #: Story of each of them.
        self.stories: list[Story] = []
        #: Threads that have written a location, by address.
        self.writers: dict[int, set[int]] = {}

    def take(
        self, kind: Kind, options: int, story: Callable[[int], Story] = lambda _: _UNTOLD,
        load: tuple[int, int] | None = None,
    ) -> int:  # fmt: skip
        """Number of the option taken.

        Parameters
        ----------
        kind : Kind
            What is chosen.
        options : int
            How many options there are, at least 1; of one alone nothing is asked.
        story : callable
            Tells what comes of an option.
        load : (int, int), optional
            Thread and address of a load that can be settled late.
        """
        if options < 2:
            return 0
        option = self._take(kind, options, load)
        if option:
            told = story(option)
            if self._allows(kind, told):
                self.deviations.append(
                    Deviation(self.counts[kind], kind, option, options, str(told))
                )
                self.stories.append(told)
            else:
                option = 0
        self.counts[kind] += 1
        return option

    def _allows(self, kind: Kind, story: Story) -> bool:
        """Whether a deviation may be made."""
        return True

    def written(self, thread: int, address: int) -> None:
        """A thread has written a location."""
        self.writers.setdefault(address, set()).add(thread)

    @abstractmethod
    def _take(self, kind: Kind, options: int, load: tuple[int, int] | None) -> int:
        """The option of choice ``self.counts[kind]`` of its kind."""


class InOrder(Choices):
    """The first option always: a sequentially consistent run."""

    def _take(self, kind: Kind, options: int, load: tuple[int, int] | None) -> int:
        return 0


class RandomChoices(Choices):
    """Deviations at random.

    Parameters
    ----------
    seed : int
        Seed.
    rates : mapping of Kind to float
        Probability of a deviation, by kind; each deviation from the first option is as likely as
        any other.
    """

    def __init__(self, seed: int, rates: Mapping[Kind, float]) -> None:
        super().__init__()
        self._random, self._rates = Random(seed), rates

    def _take(self, kind: Kind, options: int, load: tuple[int, int] | None) -> int:
        draw, rate = self._random.random(), self._rates[kind]
        return 1 + int(draw / rate * (options - 1)) if draw < rate else 0


class ReplayedChoices(Choices):
    """Given deviations, and the first option everywhere else; keeps what there was to choose.

    Parameters
    ----------
    deviations : iterable of Deviation
        The deviations; of an option that is not there the last is taken.
    """

    def __init__(self, deviations: Iterable[Deviation]) -> None:
        super().__init__()
        self._options = {(one.kind, one.number): one.option for one in deviations}
        #: Each choice that there was.
        self.asked: list[Asked] = []

    def _take(self, kind: Kind, options: int, load: tuple[int, int] | None) -> int:
        self.asked.append(Asked(kind, self.counts[kind], options, load))
        return min(self._options.get((kind, self.counts[kind]), 0), options - 1)
