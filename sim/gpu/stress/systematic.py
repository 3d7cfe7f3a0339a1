"""Systematic search: runs with few deviations, without those equivalent to others.

Ref: Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems" (1996), Section
5, for sleep sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from racetrap.golden_model.ptx_memory_model.operational import (
    Asked,
    Deviation,
    Kind,
    ReplayedChoices,
    Turn,
)
from racetrap.sim.gpu.stress.subject import Changes, Run, Subject

_Deviations = tuple[Deviation, ...]
#: Accesses by granule: whether each was written.
_Touched = Mapping[int, bool]


def bounded_runs(
    subject: Subject, memory: str, most: int, changes: Changes | None = None
) -> Iterator[Run]:
    """Every run with at most a number of deviations, those with fewest first, except runs
    equivalent to others.

    A load of an address that no other thread writes takes the same value however late it is
    settled.  It is settled late only once a run has shown a write by another thread; runs that were
    left out before are made then.

    A preemption that is the last deviation is equivalent to the same preemption one turn later if
    the preempted thread touches nothing in that turn that others touch until it resumes.
    """
    return _BoundedSearch(subject, memory, most, changes).runs()


class _BoundedSearch:
    """Runs with few deviations, by their number."""

    def __init__(self, subject: Subject, memory: str, most: int, changes: Changes | None) -> None:
        self._subject, self._memory, self._changes = subject, memory, changes
        self._most = most
        self._writers: dict[int, set[int]] = {}
        #: Runs with a late load of an address that no other thread writes: thread, deviations.
        self._waiting: dict[int, list[tuple[int, _Deviations]]] = {}
        #: Deviations of runs to be made, by their number.
        self._levels: list[list[_Deviations]] = [[()], *([] for _ in range(most))]
        #: Deviations of runs of which those with one more preemption are to be made.
        self._preempted: list[_Deviations] = []

    def runs(self) -> Iterator[Run]:
        """All runs."""
        while any(self._levels) or self._preempted:
            size = next((size for size, level in enumerate(self._levels) if level), self._most)
            level, self._levels[size] = self._levels[size], []
            for deviations in level:
                run, choices = self._run(deviations)
                yield run
                if size < self._most:
                    self._place_further(deviations, choices)
            if not any(self._levels) and self._preempted:
                yield from self._preemptions(self._preempted.pop(0))

    def _run(self, deviations: _Deviations) -> tuple[Run, ReplayedChoices]:
        choices = ReplayedChoices(deviations)
        run = self._subject.run(self._memory, choices, self._changes)
        for address, threads in choices.writers.items():
            if not threads <= self._writers.setdefault(address, set()):
                self._writers[address] |= threads
                for thread, further in self._waiting.pop(address, ()):
                    self._place(further, (thread, address))
        return run, choices

    def _place_further(self, deviations: _Deviations, choices: ReplayedChoices) -> None:
        is_last = len(deviations) + 1 == self._most
        if is_last:
            self._preempted.append(deviations)
        for one, load in _further(deviations, choices):
            if not (is_last and one.kind is Kind.TURN):
                self._place((*deviations, one), load)

    def _place(self, deviations: _Deviations, load: tuple[int, int] | None) -> None:
        """Put deviations, the last of which may be that a load is late, where they are tried
        next, or wait for a write."""
        if load is None or self._writers.get(load[1], set()) - {load[0]}:
            self._levels[len(deviations)].append(deviations)
        else:
            thread, address = load
            self._waiting.setdefault(address, []).append((thread, deviations))

    def _preemptions(self, deviations: _Deviations) -> Iterator[Run]:
        """Runs with one preemption more, of each thread the latest first."""
        _, before = self._run(deviations)
        turns = {turn.number: place for place, turn in enumerate(before.turns) if turn.ready[1:]}
        #: Of a preemption by the thread of an option: accesses of others until it resumes.
        asleep: dict[int, _Touched] = {}
        latest: Turn | None = None
        preemptions = [one for one, _ in _further(deviations, before) if one.kind is Kind.TURN]
        for one in sorted(preemptions, key=lambda one: -one.number):
            turn = before.turns[turns[one.number]]
            if latest is not None and latest.number != turn.number:
                following = before.turns[turns[turn.number] + 1]
                goes_on = following is latest and (turn.ready, turn.option) == (latest.ready, 0)
                asleep = {
                    option: touched for option, touched in asleep.items()
                    if goes_on and not _conflict(turn.touched, touched)
                }  # fmt: skip
            latest = turn
            if one.option not in asleep:
                run, choices = self._run((*deviations, one))
                yield run
                asleep[one.option] = _touched_by_others(choices.turns, one.number)


def _conflict(one: _Touched, other: _Touched) -> bool:
    """Whether something is touched by both and written by one."""
    return any(one[granule] or other[granule] for granule in one.keys() & other.keys())


def _touched_by_others(turns: Sequence[Turn], number: int) -> _Touched:
    """Accesses of other threads from a preemption until the preempted thread resumes."""
    place = next(
        place for place, turn in enumerate(turns) if turn.number == number and turn.ready[1:]
    )
    preempted, touched = turns[place].ready[0], dict[int, bool]()
    for turn in turns[place:]:
        if turn.ready[turn.option] == preempted:
            break
        for granule, writes in turn.touched.items():
            touched[granule] = touched.get(granule, False) or writes
    return touched


def _further(
    deviations: _Deviations, choices: ReplayedChoices
) -> Iterator[tuple[Deviation, tuple[int, int] | None]]:
    """One deviation more, behind the last, and the load that is late by it."""
    asked: Sequence[Asked] = choices.asked
    start = 0
    if deviations:
        last = deviations[-1]
        places = [(one.kind, one.number) for one in asked]
        start = places.index((last.kind, last.number)) + 1
    for kind, number, options, load in asked[start:]:
        for option in range(1, options):
            yield Deviation(number, kind, option, options), load
