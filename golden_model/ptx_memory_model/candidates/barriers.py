"""Barriers: the operations that take part in each completion of a barrier.

Ref: PTX ISA 9.0, Sections 9.7.13.1 (bar, barrier), 9.7.13.2 (bar.warp.sync) and 9.7.13.3
(barrier.cluster).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model.scopes import Place

_WARP_SIZE = 32
#: Maximum states to explore, over all orders of arrival.
_MOST_STATES = 100_000


class Barrier(NamedTuple):
    """A barrier resource.

    Parameters
    ----------
    kind : str
        ``cta``, ``warp`` or ``cluster``.
    place : tuple of int
        Place of its owner, from the device down.
    number : int
        Its number in a CTA; the mask of lanes in a warp.
    """

    kind: str
    place: tuple[int, ...]
    number: int = 0

    def may_have(self, place: Place) -> bool:
        """Whether the thread at ``place`` takes part."""
        if place[: len(self.place)] != self.place:
            return False
        return self.kind != "warp" or bool(self.number >> place.lane & 1)


class Arrival(NamedTuple):
    """Action of an operation at a barrier.

    Parameters
    ----------
    barrier : Barrier
        Which.
    arrives, waits : bool
        Whether it arrives, and whether it waits for the completion.
    releases : bool
        Whether operations that wait for the completion are ordered after it.
    threads : int, optional
        Number of threads that complete it; by default all that have not ended.
    reduction : str
        ``popc``, ``and``, ``or``, or empty.
    """

    barrier: Barrier
    arrives: bool
    waits: bool
    releases: bool = True
    threads: int | None = None
    reduction: str = ""


#: For each completion, the operations that took part, as (thread, place among its arrivals).
Meeting = frozenset[frozenset[tuple[int, int]]]


class _State(NamedTuple):
    """Positions of all threads, between two barrier operations.

    Parameters
    ----------
    done : tuple of int
        Barrier operations that each thread has begun.
    waiting : tuple of bool
        Whether each waits in the last of them.
    present : frozenset of (int, int)
        Operations at barriers that are not complete, by thread and place among its arrivals.
    completed : Meeting
        The completions so far.
    """

    done: tuple[int, ...]
    waiting: tuple[bool, ...]
    present: frozenset[tuple[int, int]]
    completed: Meeting


def meetings(threads: Sequence[Sequence[Arrival]], places: Sequence[Place]) -> list[Meeting]:
    """All ways in which barrier operations can meet, for any speeds of the threads.

    A run in which a thread waits forever has no meeting.

    Parameters
    ----------
    threads : sequence of sequence of Arrival
        Barrier operations of each thread in order.
    places : sequence of Place
        Where each thread runs.

    Raises
    ------
    ValueError
        If threads name different numbers for one completion, a thread arrives twice in it, or a
        thread waits without having arrived: PTX leaves these undefined.
    """
    return _Explorer(threads, places).explore()


class _Explorer:
    """Explores all orders of the threads' barrier operations."""

    def __init__(self, threads: Sequence[Sequence[Arrival]], places: Sequence[Place]) -> None:
        self._threads, self._places = threads, places

    def explore(self) -> list[Meeting]:
        """The meetings of all orders."""
        count = len(self._threads)
        start = _State((0,) * count, (False,) * count, frozenset(), frozenset())
        seen, found, left = {start}, set(), [start]
        while left:
            state = left.pop()
            ready = [number for number in range(count) if self._is_ready(state, number)]
            if not ready and not any(state.waiting):
                found.add(state.completed)
            if not self._counts_threads(state):
                # Threads may arrive at each barrier, or end, in any order.
                ready = ready[:1]
            if len(seen) > _MOST_STATES:
                raise ValueError(
                    f"Barriers have more than {_MOST_STATES} orders of arrival: take "
                    "fewer threads or barriers"
                )
            for number in ready:
                after = self._complete(self._advance(state, number))
                if after not in seen:
                    seen.add(after)
                    left.append(after)
        return sorted(found, key=lambda meeting: sorted(map(sorted, meeting)))

    def _counts_threads(self, state: _State) -> bool:
        """Whether a barrier at which some thread is, or will be, waits for a number of threads."""
        return any(
            arrival.threads is not None
            for arrivals, done in zip(self._threads, state.done, strict=True)
            for arrival in arrivals[max(done - 1, 0) :]
        ) or any(
            self._threads[thread][operation].threads is not None
            for thread, operation in state.present
        )

    def _is_ready(self, state: _State, thread: int) -> bool:
        return not state.waiting[thread] and state.done[thread] < len(self._threads[thread])

    def _has_ended(self, state: _State, thread: int) -> bool:
        return not state.waiting[thread] and state.done[thread] == len(self._threads[thread])

    def _advance(self, state: _State, thread: int) -> _State:
        """The state when ``thread`` has begun its next operation."""
        operation = state.done[thread]
        arrival = self._threads[thread][operation]
        done = (*state.done[:thread], operation + 1, *state.done[thread + 1 :])
        earlier = self._latest(thread, operation, arrival.barrier)
        joined = state._replace(done=done)
        if arrival.arrives:
            if (thread, earlier) in state.present:
                raise ValueError("Thread arrives twice in one phase of a barrier")
            joined = joined._replace(present=state.present | {(thread, operation)})
        elif earlier < 0:
            raise ValueError("Thread waits at a barrier before it arrives")
        elif (thread, earlier) in state.present:
            joined = joined._replace(present=state.present | {(thread, operation)})
        else:
            return joined._replace(
                completed=_join(state.completed, (thread, earlier), (thread, operation))
            )
        if arrival.waits:
            waiting = (*state.waiting[:thread], True, *state.waiting[thread + 1 :])
            joined = joined._replace(waiting=waiting)
        return joined

    def _latest(self, thread: int, before: int, barrier: Barrier) -> int:
        """The thread's latest arrival at a barrier, or -1."""
        arrivals = self._threads[thread][:before]
        return max(
            (
                number
                for number, arrival in enumerate(arrivals)
                if arrival.arrives and arrival.barrier == barrier
            ),
            default=-1,
        )

    def _complete(self, state: _State) -> _State:
        """The state when all barriers have completed that can."""
        at: dict[Barrier, set[tuple[int, int]]] = {}
        for thread, operation in state.present:
            barrier = self._threads[thread][operation].barrier
            at.setdefault(barrier, set()).add((thread, operation))
        for barrier, operations in at.items():
            if self._is_complete(state, barrier, operations):
                released = {
                    thread
                    for thread, operation in operations
                    if self._threads[thread][operation].waits
                }
                waiting = tuple(
                    waits and thread not in released for thread, waits in enumerate(state.waiting)
                )
                return self._complete(
                    _State(
                        state.done,
                        waiting,
                        state.present - operations,
                        state.completed | {frozenset(operations)},
                    )
                )
        return state

    def _is_complete(
        self, state: _State, barrier: Barrier, operations: set[tuple[int, int]]
    ) -> bool:
        arrivals = {
            thread: self._threads[thread][operation]
            for thread, operation in operations
            if self._threads[thread][operation].arrives
        }
        counts = {arrival.threads for arrival in arrivals.values()}
        if len(counts) > 1:
            raise ValueError("Threads of a barrier name different numbers of threads")
        missing = {
            place[:4]
            for thread, place in enumerate(self._places)
            if barrier.may_have(place)
            and thread not in arrivals
            and not self._has_ended(state, thread)
        }
        (count,) = counts
        if count is None:
            return not missing
        arrived = {self._places[thread][:4] for thread in arrivals} - missing
        return _WARP_SIZE * len(arrived) >= count


def _join(completed: Meeting, member: tuple[int, int], joining: tuple[int, int]) -> Meeting:
    """The completions when ``joining`` has taken part in that of ``member``."""
    return frozenset(
        operations | {joining} if member in operations else operations for operations in completed
    )
