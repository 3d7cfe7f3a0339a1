"""Tracks: the two threads of a race in a trace, and which of their events a timeline shows.

Shown of each thread are its access and what may order it, the nearest first, each instruction once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from racetrap.verdict.timeline import NOT_ORDERED, Band, Moment, Timeline

#: Events ahead of a thread's access and behind it that are looked through, as a trace may be long.
_REACH = 1 << 16
#: Instructions of a thread that are shown, at most: between the two accesses, and beyond either.
_MOST_BETWEEN, _MOST_BEYOND = 4, 2


def near(events: np.ndarray, access: int) -> tuple[int, np.ndarray]:
    """Events of a trace that are looked through for an access, and the number of the first."""
    begin = max(access - _REACH, 0)
    return begin, events[begin : access + _REACH]


class Track(ABC):
    """A thread of a race, or what acts like one: a copy, an engine.

    Parameters
    ----------
    access : int
        Number of its access's event in the trace.
    events : ndarray of int
        Numbers of its events near the access, which is one of them, ascending.
    instructions : ndarray
        Instruction of each event.
    may_order : ndarray of bool
        Which of them may order the access.
    named : ndarray of bool
        Which of them are shown ahead of others.
    """

    #: First and last event of the state that the access is in, and its words; ``None`` for an end
    #: that is not near.
    band: tuple[int | None, int | None, str] | None = None

    def __init__(
        self, access: int, events: np.ndarray, instructions: np.ndarray, may_order: np.ndarray,
        named: np.ndarray,
    ) -> None:  # fmt: skip
        self.access, self.events, self._instructions = access, events, instructions
        self._may_order, self._named = may_order, named

    @abstractmethod
    def moment(self, event: int, side: int) -> Moment:
        """An event that is shown."""

    def sent(self, event: int) -> Hashable:
        """What the thread hands over by an event, a location or object; ``None`` for nothing."""
        return None

    def received(self, event: int) -> Hashable:
        """What it takes over by an event."""
        return None

    def moments(self, side: int, chosen: np.ndarray, first: int, second: int) -> Iterator[Moment]:
        """Moments of this thread, with what is left out ahead of each.

        Parameters
        ----------
        side : int
            0 for the thread of the earlier access, 1 for the other.
        chosen : ndarray of int
            Events that are shown, of both threads.
        first, second : int
            Events of the two accesses.
        """
        shown = np.unique(chosen[np.isin(chosen, self.events)])
        lowest, highest = min(shown[0], first), max(shown[-1], second)
        inside = (self.events >= lowest) & (self.events <= highest)
        events, instructions = self.events[inside], self._instructions[inside]
        shown_instructions = instructions[np.searchsorted(events, shown)]
        ends = np.searchsorted(events[~np.isin(instructions, shown_instructions)], shown)
        skipped = np.diff(ends, prepend=0)
        times = np.zeros(len(shown), dtype=int)
        for instruction in set(shown_instructions.tolist()):
            alike = np.flatnonzero(shown_instructions == instruction)
            following = np.searchsorted(shown[alike], events[instructions == instruction])
            nearest = alike[np.minimum(following, len(alike) - 1)]
            times += np.bincount(nearest, minlength=len(shown))
        counted = zip(shown.tolist(), times.tolist(), skipped.tolist(), strict=True)
        for event, count, left_out in counted:
            is_access = event == self.access
            yield self.moment(event, side)._replace(
                is_access=is_access, times=count, skipped=left_out
            )

    def chosen(self, first: int, second: int) -> np.ndarray:
        """Events to be shown: of several of one instruction that nearest to the access."""
        events = self.events
        between = (events > first) & (events < second)
        nearest = np.argsort(np.abs(events - self.access), kind="stable")
        rows = [int(nearest[0])]
        for chosen, most in (
            (self._named & between, _MOST_BETWEEN),
            (self._named, _MOST_BETWEEN),
            (self._may_order & between, _MOST_BETWEEN),
            (self._may_order & (events < first), _MOST_BEYOND),
            (self._may_order & (events > second), _MOST_BEYOND),
        ):
            fresh = chosen & ~np.isin(self._instructions, self._instructions[rows])
            found = nearest[fresh[nearest]]
            _, firsts = np.unique(self._instructions[found], return_index=True)
            rows += found[np.sort(firsts)[:most]].tolist()
        return events[rows]


def timeline_of_tracks(
    tracks: Sequence[Track], actors: tuple[str, str], missing: str = NOT_ORDERED
) -> Timeline:
    """What both threads did around their accesses.

    Parameters
    ----------
    tracks : sequence of Track
        Both, that of the earlier access first.
    actors : tuple of str
        Their names.
    missing : str
        What lacks between the accesses.
    """
    first, second = (track.access for track in tracks)
    # What both threads take part in, such as a barrier, is shown of both or of none.
    chosen = np.concatenate([track.chosen(first, second) for track in tracks])
    moments: dict[int, Moment] = {}
    for side, track in enumerate(tracks):
        for moment in track.moments(side, chosen, first, second):
            if (other := moments.get(moment.event)) is not None:
                moment = moment._replace(
                    sides=(0, 1), is_access=moment.is_access or other.is_access,
                    times=max(moment.times, other.times), skipped=moment.skipped + other.skipped,
                )  # fmt: skip
            moments[moment.event] = moment
    shown = tuple(moments[event] for event in sorted(moments))
    bands = tuple(_bands(tracks, shown))
    return Timeline(actors, shown, tuple(_messages(tracks, shown)), missing, bands)


def _messages(tracks: Sequence[Track], moments: Sequence[Moment]) -> Iterator[tuple[int, int]]:
    """Pairs of what the first thread hands over and where the second takes the same over next."""
    earlier, later = tracks
    sent: dict[Hashable, int] = {}
    for number, moment in enumerate(moments):
        # The two accesses themselves are what is not ordered.
        if moment.is_access:
            continue
        if 0 in moment.sides and (what := earlier.sent(moment.event)) is not None:
            sent[what] = number
        elif 1 in moment.sides and (what := later.received(moment.event)) is not None:
            source = sent.pop(what, None)
            if source is not None:
                yield source, number


def _bands(tracks: Sequence[Track], moments: Sequence[Moment]) -> Iterator[Band]:
    """States around the accesses, from one moment that is shown to another."""
    events = [moment.event for moment in moments]
    for side, track in enumerate(tracks):
        if track.band is not None:
            first, last, words = track.band
            begun = None if first is None else bisect_right(events, first) - 1
            ended = len(events) if last is None else bisect_left(events, last)
            first, last = (each if each in range(len(events)) else None for each in (begun, ended))
            yield Band(side, first, last, words)
