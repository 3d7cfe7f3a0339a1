"""Findings: races of one or several runs, one for each pair of source lines.

A loop on a large grid races in many instances, but its fix concerns two lines.  Every detector and
oracle reports ``LineRace`` objects, and presenters depend on nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from racetrap.golden_model.barracuda.race import Missing
from racetrap.golden_model.call_stacks import Chain, Frame, own_place
from racetrap.verdict.cause import Cause, Cure, MemoryObject
from racetrap.verdict.timeline import Timeline

if TYPE_CHECKING:
    from racetrap.verdict.baseline import Baseline, KnownRace


#: What orders the threads of a warp alone, and of a block alone.
_BARRIERS = (Missing.WARP_BARRIER, Missing.BARRIER)


_COUNTER = "pc "


def place_of(pc: int, locations: Mapping[int, str]) -> str:
    """Line of the source of a program counter; the counter if it has none."""
    return locations.get(pc, f"{_COUNTER}{pc:#x}")


def is_unknown(place: str) -> bool:
    """Whether a place is a program counter without a line."""
    return place.startswith(_COUNTER)


@dataclass(frozen=True)
class Side:
    """One of the two accesses of a race.

    Parameters
    ----------
    place : str
        Line of the source, such as ``file.cu:12``, or program counter.
    access : str
        Kind: ``load``, ``store``, ``atomic``, ``copy write`` and similar.
    actor : str
        Thread that made it: ``thread 3 of block 0``; empty if ``access`` includes it.
    column : int
        Column in the line, from 1; 0 if unknown.
    stack : sequence of Frame
        Call stack, the innermost function first, as far as known.
    chain : Chain
        Place, and places of calls, which distinguish races; by default the place alone.
    details : mapping of str to object
        More about it, for programs.
    width : int
        Columns of the expression that is marked: more than 1 if any access in it may be the one.
    folded : int
        Functions of system and library headers, the innermost ones, that ``place`` and ``stack``
        leave out.
    """

    place: str
    access: str
    actor: str
    column: int = 0
    stack: Sequence[Frame] = ()
    chain: Chain = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    width: int = 1
    folded: int = 0

    @property
    def innermost(self) -> str:
        """Its innermost place, folded or not."""
        return self.chain[0] if self.chain else self.place

    @property
    def in_own_code(self) -> Side:
        """The same with functions of system and library headers folded."""
        number, place = own_place(self.chain or (self.place,))
        if not number:
            return self
        return replace(
            self, place=place, column=0, width=1, stack=self.stack[number:], folded=number
        )


@dataclass(frozen=True)
class LineRace:
    """A race, and its number of instances.

    Parameters
    ----------
    earlier, later : Side
        Its accesses.
    kind : str
        Kind of the race, in one word.
    reason : str
        Why it is a race.
    relation : str
        Relation of the threads, such as ``inter-block``.
    where : str
        Its memory, in words.
    instances : int
        Racing pairs of accesses.
    block_pairs : int
        Pairs of blocks of these; 0 without blocks.
    is_least : bool
        Whether there may be more of both.
    is_ordered : bool
        Whether the order of the accesses in the trace is known.
    outcome : str
        A detector's outcome; empty without a detector.
    cause : Cause or None
        What would have ordered the accesses, if the judge knows.
    memory_object : MemoryObject or None
        What both accesses access, if that is known.
    element : str
        Its part, such as ``[3]``.
    make_timeline : callable or None
        Makes the timeline, which only a page shows, if the run's trace is at hand.
    details : mapping of str to object
        More about it, for programs.
    """

    earlier: Side
    later: Side
    kind: str
    reason: str
    relation: str
    where: str
    instances: int = 1
    block_pairs: int = 0
    is_least: bool = False
    is_ordered: bool = True
    outcome: str = ""
    cause: Cause | None = None
    memory_object: MemoryObject | None = None
    element: str = ""
    make_timeline: Callable[[], Timeline | None] | None = field(default=None, compare=False)
    details: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def timeline(self) -> Timeline | None:
        """What both threads did around their accesses, as far as that is known."""
        return self.make_timeline() if self.make_timeline else None

    @property
    def sides(self) -> tuple[tuple[str, Side], tuple[str, Side]]:
        """Both accesses, each with its label."""
        names = ("earlier", "later") if self.is_ordered else ("one", "other")
        return (names[0], self.earlier), (names[1], self.later)

    def is_wider_than(self, other: LineRace) -> bool:
        """Whether a cure of another race, a barrier, would not cure this one."""
        if self.cause is None or other.cause is None or other.cause.missing not in _BARRIERS:
            return False
        reach = _BARRIERS.index(other.cause.missing)
        return self.cause.missing not in _BARRIERS[: reach + 1]

    @property
    def places(self) -> frozenset[str]:
        """Both places."""
        return frozenset((self.earlier.innermost, self.later.innermost))

    @property
    def chains(self) -> frozenset[Chain]:
        """Both places with the calls that lead there: races of one helper function that is called
        at several places are different ones."""
        return frozenset(side.chain or (side.place,) for side in (self.earlier, self.later))


@dataclass
class LinePair:
    """All races between two places, each reached by one path of calls.

    Parameters
    ----------
    first : LineRace
        The first of them, of those between the threads that have least in common.
    kinds, relations : Counter of str
        Instances of each kind of race, and of each relation of the two threads.
    block_pairs : int
        Pairs of blocks that race, of all runs.
    is_least : bool
        Whether there may have been more of both.
    schedules : set of int
        Runs in which it was found.
    outcomes : Counter of str
        A detector's outcomes of different races of these lines.
    exposure : mapping of str to object
        Outcome in runs under weak memory; empty if there were none.
    cure : Cure, optional
        The edit that ends them, if one was looked for.
    """

    first: LineRace
    kinds: Counter[str] = field(default_factory=Counter)
    relations: Counter[str] = field(default_factory=Counter)
    block_pairs: int = 0
    is_least: bool = False
    schedules: set[int] = field(default_factory=set)
    outcomes: Counter[str] = field(default_factory=Counter)
    exposure: Mapping[str, Any] = field(default_factory=dict)
    cure: Cure | None = None

    @property
    def in_own_code(self) -> LinePair:
        """The same with functions of system and library headers folded."""
        race = self.first
        own = replace(
            race, earlier=race.earlier.in_own_code, later=race.later.in_own_code,
            cause=race.cause and race.cause.in_own_code,
        )  # fmt: skip
        return replace(self, first=own)

    @property
    def instances(self) -> int:
        """Pairs of accesses that race."""
        return self.kinds.total()


class DividedPairs(NamedTuple):
    """Findings and a baseline.

    Parameters
    ----------
    new, known : list of LinePair
        Findings that count, and those in the baseline; the most instances first.
    not_found : list of KnownRace
        Races of the baseline that were not found.
    """

    new: list[LinePair]
    known: list[LinePair]
    not_found: list[KnownRace]

    @property
    def new_places(self) -> set[frozenset[str]]:
        """Places of the findings that count."""
        return {pair.first.places for pair in self.new}


class LinePairs:
    """Races grouped by pair of places; memory is independent of the number of races.

    Attributes
    ----------
    found : dict of frozenset of Chain to LinePair
        By places and calls, in the order in which they were first found.
    """

    def __init__(self) -> None:
        self.found: dict[frozenset[Chain], LinePair] = {}

    def add(self, races: Iterable[LineRace], schedule: int = 0) -> None:
        """Take the races of a run.

        Parameters
        ----------
        races : iterable of LineRace
            Its races.
        schedule : int
            Number of the run, from 0.
        """
        for race in races:
            pair = self.found.setdefault(race.chains, LinePair(race))
            if race.is_wider_than(pair.first):
                pair.first = race
            pair.kinds[race.kind] += race.instances
            pair.relations[race.relation] += race.instances
            pair.block_pairs += race.block_pairs
            pair.is_least |= race.is_least
            pair.schedules.add(schedule)
            if race.outcome:
                pair.outcomes[race.outcome] += 1

    @property
    def by_instances(self) -> list[LinePair]:
        """Those with the most instances first."""
        return sorted(self.found.values(), key=lambda pair: -pair.instances)

    def divide(self, baseline: Baseline | None) -> DividedPairs:
        """Findings that are new and those that are known; all are new without a baseline."""
        if baseline is None:
            return DividedPairs(self.by_instances, [], [])
        return baseline.divide(self.by_instances)


def divide_run(races: Iterable[LineRace], baseline: Baseline | None) -> DividedPairs:
    """Races of one run by pair of lines: new ones, and those in a baseline."""
    pairs = LinePairs()
    pairs.add(races)
    return pairs.divide(baseline)
