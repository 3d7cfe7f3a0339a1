"""Choices of a run: whatever a memory model or a scheduler leaves open is asked of one object.

Option 0 is always what a sequentially consistent machine does; any other is a deviation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from random import Random
from typing import NamedTuple


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


class Turn(NamedTuple):
    """A turn of a run.

    Parameters
    ----------
    number : int
        Number of the choice whose turn it is; that of the next one if there was nothing to choose.
    ready : tuple of object
        Who could go on.
    option : int
        Which of them did.
    touched : dict of int to bool
        What was touched until the next turn, by granule, and whether it was written.
    """

    number: int
    ready: tuple[object, ...]
    option: int
    touched: dict[int, bool]


#: Address of the order of fences ``.sc``, which is no address of memory.
SC_FENCES = -8
#: Bytes of what turns are compared by.
_GRANULE = 8
#: What is told of a choice about which nothing is known.
_UNTOLD = Story("", "")


class Choices(ABC):
    """Takes the choices of one run and keeps the deviations."""

    #: Whether `touched` is of any use.
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
            How many options there are, at least 1; of one alone nothing is asked.
        story : callable
            Gives the outcome of an option.
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

    def touched(self, thread: int, address: int, size: int, writes: bool) -> None:  # noqa: B027
        """A thread has read or written so many bytes, or what else is shared (``SC_FENCES``)."""

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
    """Given deviations, and the first option everywhere else; keeps what there was to choose, and
    what was touched.

    Parameters
    ----------
    deviations : iterable of Deviation
        The deviations; of an option that is not there the last is taken.
    """

    keeps_touched = True

    def __init__(self, deviations: Iterable[Deviation]) -> None:
        super().__init__()
        self._options = {(one.kind, one.number): one.option for one in deviations}
        #: Each choice that there was.
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
