"""Choices of a run: one object makes all choices that memory model and scheduler leave open.

Option 0 is always that of a sequentially consistent machine; any other is a deviation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from random import Random
from typing import NamedTuple


class Kind(Enum):
    """Kind of choice; the value is its name in files."""

    TURN = "turn"
    MESSAGE = "message"
    PLACE = "place"
    LATE = "late"
    HOLD = "hold"


class Story(NamedTuple):
    """Effect of a choice.

    Parameters
    ----------
    origin : object
        Access or warp that had the choice.
    what : str
        Its action.
    other : object
        The access that it overtook or missed; empty if none.
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
        The option taken, and the number of options.
    story : str
        Its effect, for people.
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
        Number of options.
    load : (int, int), optional
        Thread and address of the load that may be settled late.
    """

    kind: Kind
    number: int
    options: int
    load: tuple[int, int] | None


class Turn(NamedTuple):
    """A turn of a run.

    Parameters
    ----------
    number : int
        Number of the choice that decided the turn; that of the next choice if there was only one
        option.
    ready : tuple of object
        Threads that could run.
    option : int
        Index of the one that ran.
    touched : dict of int to bool
        Granules touched until the next turn, and whether they were written.
    """

    number: int
    ready: tuple[object, ...]
    option: int
    touched: dict[int, bool]


#: Pseudo-address of the order of ``.sc`` fences.
SC_FENCES = -8
#: Bytes of a granule by which turns are compared.
_GRANULE = 8
#: Story of a choice without a description.
_UNTOLD = Story("", "")


class Choices(ABC):
    """Takes the choices of one run and keeps the deviations."""

    #: Whether `touched` is needed.
    keeps_touched = False

    def __init__(self) -> None:
        #: Choices so far, by kind.
        self.counts = dict.fromkeys(Kind, 0)
        self.deviations: list[Deviation] = []
        #: Story of each of them.
        self.stories: list[Story] = []

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
            Number of options, at least 1; a single one is no choice.
        story : callable
            Returns the story of an option.
        load : (int, int), optional
            Thread and address of a load that may be settled late.
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

    def touched(self, thread: int, address: int, size: int, writes: bool) -> None:  # noqa: B027
        """Record that a thread has read or written bytes, or other shared state (``SC_FENCES``)."""

    @abstractmethod
    def _take(self, kind: Kind, options: int, load: tuple[int, int] | None) -> int:
        """The option of choice number ``self.counts[kind]`` of its kind."""


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
        Probability of a deviation, by kind; all deviations from the first option are equally
        likely.
    """

    def __init__(self, seed: int, rates: Mapping[Kind, float]) -> None:
        super().__init__()
        self._random, self._rates = Random(seed), rates

    def _take(self, kind: Kind, options: int, load: tuple[int, int] | None) -> int:
        draw, rate = self._random.random(), self._rates[kind]
        return 1 + int(draw / rate * (options - 1)) if draw < rate else 0


class ReplayedChoices(Choices):
    """Given deviations, and the first option everywhere else; records all choices and touched
    granules.

    Parameters
    ----------
    deviations : iterable of Deviation
        The deviations; an option out of range is replaced by the last one.
    """

    keeps_touched = True

    def __init__(self, deviations: Iterable[Deviation]) -> None:
        super().__init__()
        self._options = {(one.kind, one.number): one.option for one in deviations}
        #: All choices of the run.
        self.asked: list[Asked] = []
        self.turns: list[Turn] = []
        #: Threads that have written a location, by address.
        self.writers: dict[int, set[int]] = {}

    def take(
        self, kind: Kind, options: int, story: Callable[[int], Story] = lambda _: _UNTOLD,
        load: tuple[int, int] | None = None,
    ) -> int:  # fmt: skip
        number = self.counts[kind]
        option = super().take(kind, options, story, load)
        if kind is Kind.TURN:
            ready = tuple(story(each).origin for each in range(options))
            self.turns.append(Turn(number, ready, option, {}))
        return option

    def touched(self, thread: int, address: int, size: int, writes: bool) -> None:
        if writes:
            self.writers.setdefault(address, set()).add(thread)
        if self.turns:
            touched = self.turns[-1].touched
            for granule in range(address // _GRANULE, (address + size - 1) // _GRANULE + 1):
                touched[granule] = touched.get(granule, False) or writes

    def _take(self, kind: Kind, options: int, load: tuple[int, int] | None) -> int:
        self.asked.append(Asked(kind, self.counts[kind], options, load))
        return min(self._options.get((kind, self.counts[kind]), 0), options - 1)
