"""Search for failing runs, at random or systematically, and their shrinking.

Ref: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (TSE 2002), for
ddmin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from types import MappingProxyType

from racetrap.golden_model.ptx_memory_model.operational import (
    Asked,
    Deviation,
    Kind,
    RandomChoices,
    ReplayedChoices,
)
from racetrap.sim.gpu.stress.subject import Changes, Run, Subject

__all__ = ["all_bounded_runs", "bounded_runs", "random_rates", "random_runs", "replay", "shrink"]

#: Rates of preemption and of stale loads, which runs take in turn: rare ones let a warp get far
#: behind, frequent ones interleave.
_TURNS, _MESSAGES = (0.03, 0.15, 0.6), (0.3, 0.6)
_Deviations = tuple[Deviation, ...]
#: Most runs that shrinking takes.
_MOST_RUNS = 400


def random_rates(seed: int, hold: float = 1.0) -> Mapping[Kind, float]:
    """Rates of the deviations of a run.

    Parameters
    ----------
    seed : int
        Seed of the run: it alone repeats a run.
    hold : float
        Probability p_w that a write buffer holds a store.
    """
    return MappingProxyType({
        Kind.TURN: _TURNS[seed % 3], Kind.MESSAGE: _MESSAGES[seed % 2], Kind.PLACE: 0.1,
        Kind.LATE: 0.1, Kind.HOLD: hold,
    })  # fmt: skip


def random_runs(
    subject: Subject, memory: str, seed: int, hold: float = 1.0, changes: Changes | None = None
) -> Iterator[Run]:
    """Runs with choices at random, one seed after the other, without end."""
    for each in count(seed):
        yield subject.run(memory, RandomChoices(each, random_rates(each, hold)), changes)


def all_bounded_runs(
    subject: Subject, memory: str, most: int, changes: Changes | None = None
) -> Iterator[Run]:
    """Every run with at most so many deviations, those with fewest first."""
    level: list[_Deviations] = [()]
    for size in range(most + 1):
        following: list[_Deviations] = []
        for deviations in level:
            choices = ReplayedChoices(deviations)
            yield subject.run(memory, choices, changes)
            if size < most:
                following += (further for further, _ in _further(deviations, choices.asked))
        level = following


def bounded_runs(
    subject: Subject, memory: str, most: int, changes: Changes | None = None
) -> Iterator[Run]:
    """The same without runs that go like others.

    A load of what no other thread writes takes the same value however late it is settled.  It is
    settled late only once a run has shown a write by another thread; runs that were left out
    before are made then.
    """
    writers: dict[int, set[int]] = {}
    waiting: dict[int, list[tuple[int, _Deviations]]] = {}
    levels: list[list[_Deviations]] = [[()], *([] for _ in range(most))]
    while any(levels):
        size = next(size for size, level in enumerate(levels) if level)
        level, levels[size] = levels[size], []
        for deviations in level:
            choices = ReplayedChoices(deviations)
            yield subject.run(memory, choices, changes)
            for address, threads in choices.writers.items():
                if not threads <= writers.setdefault(address, set()):
                    writers[address] |= threads
                    for thread, further in waiting.pop(address, ()):
                        _place(further, (thread, address), writers, waiting, levels)
            if size < most:
                for further, load in _further(deviations, choices.asked):
                    _place(further, load, writers, waiting, levels)


def _place(
    deviations: _Deviations, load: tuple[int, int] | None, writers: Mapping[int, set[int]],
    waiting: dict[int, list[tuple[int, _Deviations]]], levels: list[list[_Deviations]],
) -> None:  # fmt: skip
    """Put deviations, the last of which may be that a load is late, where they are tried next, or
    wait for a write."""
    if load is None or writers.get(load[1], set()) - {load[0]}:
        levels[len(deviations)].append(deviations)
    else:
        thread, address = load
        waiting.setdefault(address, []).append((thread, deviations))


def _further(
    deviations: _Deviations, asked: Sequence[Asked]
) -> Iterator[tuple[_Deviations, tuple[int, int] | None]]:
    """One deviation more, behind the last, and the load that is late by it."""
    last = deviations[-1] if deviations else None
    start = 0
    if last is not None:
        places = [(one.kind, one.number) for one in asked]
        start = places.index((last.kind, last.number)) + 1
    for kind, number, options, load in asked[start:]:
        for option in range(1, options):
            yield (*deviations, Deviation(number, kind, option, options)), load


def replay(
    subject: Subject, memory: str, deviations: Sequence[Deviation], changes: Changes | None = None
) -> Run:
    """The run that has the deviations."""
    return subject.run(memory, ReplayedChoices(deviations), changes)


def shrink(subject: Subject, memory: str, failing: Run) -> Run:
    """A run with as few deviations as can be that fails in the same way."""
    best, left = failing, _MOST_RUNS

    def fails(deviations: Sequence[Deviation]) -> bool:
        nonlocal best, left
        if not left:
            return False
        left -= 1
        run = replay(subject, memory, deviations)
        if run.failure is not failing.failure:
            return False
        if len(run.deviations) < len(best.deviations):
            best = run
        return True

    # Most preemptions are of no account.
    fails([one for one in best.deviations if one.kind is not Kind.TURN])
    _ddmin(list(best.deviations), fails)
    return best


def _ddmin(items: list[Deviation], fails: Callable[[list[Deviation]], bool]) -> None:
    """Call ``fails`` with smaller and smaller lists while it holds."""
    parts = 2
    while items:
        size = -(-len(items) // parts)
        for start in range(0, len(items), size):
            rest = items[:start] + items[start + size :]
            if fails(rest):
                items, parts = rest, max(parts - 1, 2)
                break
        else:
            if parts >= len(items):
                return
            parts = min(2 * parts, len(items))
