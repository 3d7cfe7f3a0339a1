"""Timelines of races from the trace of a run.

Shown of each thread are its access and what may order it: fences, barriers, atomics and strong
accesses beside it, each instruction once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from racetrap.golden_model.barracuda.race import Missing, RaceClass
from racetrap.golden_model.call_stacks import chain_of, own_place
from racetrap.golden_model.events import (
    BLOCK_BARRIERS,
    WARP_SIZE,
    AtomicOp,
    EventKind,
    MemoryOrder,
    Scope,
    Space,
    TraceHeader,
)
from racetrap.golden_model.trace import Trace
from racetrap.verdict.gpu.memory_names import named_object
from racetrap.verdict.line_pairs import LineRace, place_of
from racetrap.verdict.timeline import Moment, Timeline

#: Events ahead of a thread's access and behind it that are looked through, as a trace may be long.
_REACH = 1 << 16
#: Instructions of a thread that are shown, at most: between the two accesses, and beyond either.
_MOST_BETWEEN, _MOST_BEYOND = 4, 2
_WARP_KINDS = (
    EventKind.LOAD, EventKind.STORE, EventKind.ATOMIC, EventKind.FENCE, EventKind.WARP_BARRIER,
    EventKind.BARRIER_ARRIVE,
)  # fmt: skip
_ATOMICS = {AtomicOp.CAS: "atomic CAS", AtomicOp.EXCH: "atomic exchange", AtomicOp.OTHER: "atomic"}
_OTHERS = {
    EventKind.FENCE: "fence", EventKind.BARRIER: "barrier", EventKind.WARP_BARRIER: "warp barrier",
    EventKind.BARRIER_ARRIVE: "arrival at barrier", EventKind.PARTIAL_BARRIER: "partial barrier",
    EventKind.COPY_READ: "copy reads", EventKind.COPY_WRITE: "copy writes",
    EventKind.KERNEL_BEGIN: "kernel begins", EventKind.KERNEL_END: "kernel ends",
}  # fmt: skip
_ENDS = (EventKind.KERNEL_BEGIN, EventKind.KERNEL_END)
_TOO_LATE, _TOO_NARROW, _NO_RELEASE, _NO_ACQUIRE = (
    "too late", "too narrow", "no release", "no acquire",
)  # fmt: skip


def timeline_of(race: LineRace, trace: Trace, header: TraceHeader) -> Timeline:
    """What both threads of a race did around their accesses.

    Parameters
    ----------
    race : LineRace
        A race of the oracle in the trace.
    trace : Trace
        The trace.
    header : TraceHeader
        Its header, with places of sources that can be read.
    """
    threads = [_Thread(race, number, trace, header) for number in range(2)]
    moments: dict[int, Moment] = {}
    for thread in threads:
        for moment in thread.moments():
            if (other := moments.get(moment.event)) is not None:
                moment = moment._replace(
                    sides=(0, 1), is_access=moment.is_access or other.is_access,
                    times=max(moment.times, other.times), skipped=moment.skipped + other.skipped,
                )  # fmt: skip
            moments[moment.event] = moment
    shown = [moments[event] for event in sorted(moments)]
    messages = tuple(_messages(shown, *threads))
    received = {number for _, number in messages}
    shown = [
        # The second thread may also run what the first lacks, for threads of its own.
        moment._replace(lack="")
        if moment.lack == _NO_ACQUIRE and number not in received
        else moment
        for number, moment in enumerate(shown)
    ]
    earlier, later = (side.actor or side.access for side in (race.earlier, race.later))
    return Timeline((earlier, later), tuple(shown), messages)


class _Thread:
    """One of the two threads of a race, or a copy.

    Parameters
    ----------
    race : LineRace
        The race.
    number : int
        0 for that of the earlier access, 1 for the other.
    trace, header : Trace, TraceHeader
        Its trace.
    """

    def __init__(self, race: LineRace, number: int, trace: Trace, header: TraceHeader) -> None:
        self._race, self._number, self._trace, self._header = race, number, trace, header
        sides = (race.earlier, race.later)
        self._first, self._second = (int(side.details["event"]) for side in sides)
        self._access = (self._first, self._second)[number]
        self._thread = int(sides[number].details["thread"])
        self._lane = 1 << self._thread % WARP_SIZE
        self._begin = max(self._access - _REACH, 0)
        self._window = trace.events[self._begin : self._access + _REACH]
        self._kind = np.ascontiguousarray(self._window["kind"])
        self._events = np.flatnonzero(self._own()) + self._begin
        self._pcs = trace.events["pc"][self._events]

    def moments(self) -> Iterator[Moment]:
        """Moments of this thread, with what is left out ahead of each."""
        shown = np.array(sorted(self._shown()))
        lowest, highest = min(shown[0], self._first), max(shown[-1], self._second)
        inside = (self._events >= lowest) & (self._events <= highest)
        events, pcs = self._events[inside], self._pcs[inside]
        shown_pcs = pcs[np.searchsorted(events, shown)]
        ends = np.searchsorted(events[~np.isin(pcs, shown_pcs)], shown)
        skipped = np.diff(ends, prepend=0)
        times = np.zeros(len(shown), dtype=int)
        for pc in set(shown_pcs.tolist()):
            alike = np.flatnonzero(shown_pcs == pc)
            following = np.searchsorted(shown[alike], events[pcs == pc])
            nearest = alike[np.minimum(following, len(alike) - 1)]
            times += np.bincount(nearest, minlength=len(shown))
        for moment in zip(shown.tolist(), times.tolist(), skipped.tolist(), strict=True):
            yield self._moment(*moment)

    def location(self, event: int) -> tuple[int, ...]:
        """Memory and address that this thread accesses, and its block if it is shared memory."""
        record = self._trace.events[event]
        lane = int(record["first_lane"])
        if record["kind"] <= EventKind.ATOMIC:
            lane += (int(record["mask"]) & (self._lane - 1)).bit_count()
        space, address = int(record["space"]), int(self._trace.lanes["address"][lane])
        is_shared = space == Space.SHARED
        return (space, address, *[int(record["sm"]), int(record["slot"])] * is_shared)

    def writes(self, event: int) -> bool:
        """Whether an event may write."""
        return self._trace.events["kind"][event] in (EventKind.STORE, EventKind.ATOMIC)

    def reads(self, event: int) -> bool:
        """Whether an event may read."""
        return self._trace.events["kind"][event] in (EventKind.LOAD, EventKind.ATOMIC)

    def _own(self) -> np.ndarray:
        """Which events of the window are of this thread."""
        window, kind, access = self._window, self._kind, self._access - self._begin
        own = np.zeros(len(window), dtype=bool)
        own[access] = True
        if kind[access] > EventKind.ATOMIC:
            return own
        record = window[access]
        in_slot = (window["sm"] == record["sm"]) & (window["slot"] == record["slot"])
        mask = window["mask"]
        has_lane = (mask == 0) | (mask & self._lane != 0)
        has_warp = (mask == 0) | (mask >> np.uint32(self._thread // WARP_SIZE) & 1 != 0)
        is_warp = np.isin(kind, _WARP_KINDS) & (window["warp"] == record["warp"]) & has_lane
        is_block = np.isin(kind, BLOCK_BARRIERS) & has_warp
        own |= in_slot & (is_warp | is_block)
        # Another block may have had the slot before, or have it later; so may another kernel.
        changes = np.flatnonzero(
            (in_slot & np.isin(kind, (EventKind.BLOCK_PLACED, EventKind.BLOCK_RETIRED)))
            | np.isin(kind, _ENDS)
        )
        before, behind = changes[changes < access][-1:], changes[changes > access][:1]
        own[: before[0] if len(before) else 0] = False
        own[behind[0] if len(behind) else len(own) :] = False
        if self._race.relation == RaceClass.INTER_LAUNCH.value:
            ends = np.flatnonzero(np.isin(kind, _ENDS))
            own[ends[ends < access][-1:]] = own[ends[ends > access][:1]] = True
        return own

    def _shown(self) -> list[int]:
        """Events that are shown: of several of one instruction that nearest to the access."""
        events, pcs = self._events, self._pcs
        records = self._trace.events[events]
        if self._race.relation == RaceClass.INTER_LAUNCH.value:
            return sorted({self._access, *events[np.isin(records["kind"], _ENDS)].tolist()})
        may_order = (records["kind"] > EventKind.STORE) | (records["strong"] != 0)
        named = np.isin(pcs, self._named_pcs())
        between = (events > self._first) & (events < self._second)
        is_later = self._number == 1
        shown = [self._access]
        for chosen, most, is_last in (
            (named & between, _MOST_BETWEEN, is_later),
            (named, _MOST_BETWEEN, is_later),
            (may_order & between, _MOST_BETWEEN, is_later),
            (may_order & (events < self._first), _MOST_BEYOND, True),
            (may_order & (events > self._second), _MOST_BEYOND, False),
        ):
            fresh = chosen & ~np.isin(pcs, self._trace.events["pc"][shown])
            rows = np.flatnonzero(fresh)[:: -1 if is_last else 1]
            _, firsts = np.unique(pcs[rows], return_index=True)
            shown += events[rows[np.sort(firsts)[:most]]].tolist()
        return sorted(shown)

    def _named_pcs(self) -> list[int]:
        """Instructions that the cause names."""
        cause = self._race.cause
        named = (*cause.changes, cause.fence) if cause else ()
        return [each.pc for each in named if each is not None]

    def _lack(self, pc: int) -> str:
        """What the cause says of an instruction."""
        cause = self._race.cause
        if cause is None or pc not in self._named_pcs():
            return ""
        if cause.missing is Missing.SCOPE:
            return _TOO_NARROW
        if self._number == 1:
            return _NO_ACQUIRE
        return _TOO_LATE if cause.fence and pc == cause.fence.pc else _NO_RELEASE

    def _moment(self, event: int, times: int, skipped: int) -> Moment:
        record = self._trace.events[event]
        pc, place, name = int(record["pc"]), "", ""
        if record["kind"] not in _ENDS:
            place = place_of(pc, self._header.locations)
            stack = self._header.stacks.get(pc, 0)
            _, place = own_place(chain_of(place, self._header.frames, stack))
        if record["kind"] <= EventKind.ATOMIC:
            space, address, *_ = self.location(event)
            found = named_object(
                Space(space), address, self._race.details["launch"], self._header,
                max(int(record["size"]), 1),
            )  # fmt: skip
            name = "".join([found[0].name, found[1]]) if found[0] and found[0].name else ""
        return Moment(
            event, (self._number,), _words(record), name, place, event == self._access,
            self._lack(pc), times, skipped,
        )  # fmt: skip


def _words(record: np.void) -> str:
    """An event in words."""
    kind, order = EventKind(record["kind"]), MemoryOrder(record["order"])
    named = f"{order.name.lower().replace('_', '-')} " * (order is not MemoryOrder.IMPLIED)
    scope = ", block scope" if record["scope"] == Scope.BLOCK else ""
    if kind in _OTHERS:
        words = _OTHERS[kind]
        return f"{named}{words}{scope}" if kind is EventKind.FENCE else words
    if kind is EventKind.ATOMIC:
        return f"{named}{_ATOMICS[AtomicOp(record['op'])]}{scope}"
    if not record["strong"]:
        return kind.name.lower()
    return f"{named or 'volatile '}{kind.name.lower()}{scope}"


def _messages(
    moments: Sequence[Moment], earlier: _Thread, later: _Thread
) -> Iterator[tuple[int, int]]:
    """Pairs of a strong write of the first thread and the next strong access of the second to the
    same location."""
    written: dict[tuple[int, ...], int] = {}
    for number, moment in enumerate(moments):
        # The two accesses themselves are what is not ordered.
        if moment.is_access:
            continue
        if 0 in moment.sides and earlier.writes(moment.event):
            written[earlier.location(moment.event)] = number
        elif 1 in moment.sides and later.reads(moment.event):
            source = written.pop(later.location(moment.event), None)
            if source is not None:
                yield source, number
