"""Exposure of races: whether what weak memory makes of two lines lets a run fail.

A race is exposed by itself if a run fails whose memory deviates at its two lines alone, where one
passes the other, while warps take turns as they like; it is exposed together with others if a
shrunk witness, of which no deviation can be left out, has one at its lines.  A race that neither
exposes may still matter in runs that were not made.

Ref: Bugaroo Section III-D.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from racetrap.golden_model.call_stacks import Chain
from racetrap.golden_model.ptx_memory_model.operational import (
    Kind,
    RandomChoices,
    ReplayedChoices,
    Story,
)
from racetrap.sim.gpu.executor.machine.weak_memory import Origin
from racetrap.sim.gpu.stress.search import random_rates, random_runs, shrink
from racetrap.sim.gpu.stress.subject import Run, Subject

#: Failing runs that are shrunk.
_SHRUNK = 3


@dataclass(frozen=True)
class Exposure:
    """Outcome of a race in runs under weak memory.

    Parameters
    ----------
    runs : int
        Runs made; the last one failed, if one did.
    seed : int
        Seed of the last.
    run : Run, optional
        The failing run.
    alone : bool
        Whether memory deviated at the race's lines alone.
    """

    runs: int
    seed: int
    run: Run | None
    alone: bool = True


def _places(story: Story, locations: Mapping[int, Chain]) -> frozenset[Chain]:
    """Lines of the accesses that deviate."""
    accesses = [who.access for who in (story.origin, story.other) if isinstance(who, Origin)]
    return frozenset(locations.get(access.pc, ("",)) for access in accesses)


class _ChoicesAt(RandomChoices):
    """Choices at random whose memory deviates at accesses of some lines alone."""

    def __init__(
        self, seed: int, rates: Mapping[Kind, float], places: Collection[Chain],
        locations: Mapping[int, Chain],
    ) -> None:  # fmt: skip
        super().__init__(seed, rates)
        self._lines, self._locations = frozenset(places), locations

    def _allows(self, kind: Kind, story: Story) -> bool:
        return kind is Kind.TURN or _places(story, self._locations) <= self._lines


def expose(
    subject: Subject, memory: str, places: Collection[Chain], locations: Mapping[int, Chain],
    most: int, seed: int,
) -> Exposure:  # fmt: skip
    """Run until a run fails in which memory deviates at two lines alone.

    Parameters
    ----------
    subject : Subject
        What runs.
    memory : str
        The memory model.
    places : collection of Chain
        The lines, each with the calls that lead there.
    locations : mapping of int to Chain
        The same of each program counter.
    most : int
        Most runs.
    seed : int
        Seed of the first.
    """
    for number in range(most):
        own = seed + number
        run = subject.run(memory, _ChoicesAt(own, random_rates(own), places, locations))
        if run.failure:
            return Exposure(number + 1, own, run)
    return Exposure(most, seed + most - 1, None)


def witnessed(
    subject: Subject, memory: str, locations: Mapping[int, Chain], most: int, seed: int
) -> Iterator[tuple[frozenset[Chain], Exposure]]:
    """Lines of each deviation of memory of the first failing runs, shrunk.

    Parameters
    ----------
    subject, memory, locations, most, seed
        As of ``expose``.
    """
    runs = enumerate(islice(random_runs(subject, memory, seed), most))
    failing = ((number, run) for number, run in runs if run.failure)
    for number, run in islice(failing, _SHRUNK):
        shrunk = shrink(subject, memory, run)
        choices = ReplayedChoices(shrunk.deviations)
        subject.run(memory, choices)
        for deviation, story in zip(choices.deviations, choices.stories, strict=True):
            if deviation.kind is not Kind.TURN:
                yield _places(story, locations), Exposure(number + 1, seed + number, shrunk, False)
