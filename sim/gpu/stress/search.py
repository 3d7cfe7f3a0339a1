"""Search for failing runs at random, their repetition, and their shrinking.

Ref: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (TSE 2002), for
ddmin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from types import MappingProxyType

from racetrap.golden_model.ptx_memory_model.operational import (
    Deviation,
    Kind,
    RandomChoices,
    ReplayedChoices,
)
from racetrap.sim.gpu.stress.subject import Changes, Run, Subject

#: Rates of preemption and of stale loads, which runs take in turn: rare ones let a warp get far
#: behind, frequent ones interleave.
_TURNS, _MESSAGES = (0.03, 0.15, 0.6), (0.3, 0.6)
#: Most runs that shrinking takes.
_MOST_RUNS = 400
#: Deviations of a witness that is short enough, and failing runs that are shrunk to find one.
_SHORT, _SHRUNK = 4, 5


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


def replay(
    subject: Subject, memory: str, deviations: Sequence[Deviation], changes: Changes | None = None
) -> Run:
    """The run that has the deviations."""
    return subject.run(memory, ReplayedChoices(deviations), changes)


def shrink(subject: Subject, memory: str, failing: Run) -> Run:
    """A run with as few deviations as possible that fails in the same way."""
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

    # Most preemptions are irrelevant.
    fails([one for one in best.deviations if one.kind is not Kind.TURN])
    _ddmin(list(best.deviations), fails)
    return best


def short_witness(subject: Subject, memory: str, failing: Sequence[Run]) -> Run:
    """The first of some failing runs, shrunk; if it still has many deviations, the shortest of a
    few that fail in the same way."""
    alike = [run for run in failing if run.failure is failing[0].failure]
    best = shrink(subject, memory, alike[0])
    for run in alike[1:_SHRUNK]:
        if len(best.deviations) <= _SHORT:
            break
        best = min(best, shrink(subject, memory, run), key=lambda each: len(each.deviations))
    return best


def find_witness(
    subject: Subject, memory: str, runs: Sequence[Run], shrinks: bool = True
) -> tuple[list[Run], Run | None]:
    """Runs that fail, and a short witness of one, or the first as it is.  Later runs, and those of
    shrinking, may show that a result is right that was called wrong before."""
    failing = [run for run in runs if subject.fails(run)]
    while failing:
        witness = short_witness(subject, memory, failing) if shrinks else failing[0]
        failing = [run for run in failing if subject.fails(run)]
        if subject.fails(witness):
            return failing, witness
    return failing, None


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
