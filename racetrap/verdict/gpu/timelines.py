"""Timelines of races from the trace of a GPU's run: fences, barriers, atomics and strong accesses
beside the two that race."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from racetrap.golden_model.barracuda.race import Missing, RaceClass
from racetrap.golden_model.call_stacks import chain_of, own_place
from racetrap.golden_model.events import (
    BLOCK_BARRIERS,
    COPY_KINDS,
    WARP_SIZE,
    AtomicOp,
    EventKind,
    EventScope,
    MemoryOrder,
    Space,
    TraceHeader,
)
from racetrap.golden_model.trace import Trace
from racetrap.verdict.gpu.memory_names import MemoryNames
from racetrap.verdict.line_pairs import LineRace, place_of
from racetrap.verdict.timeline import Moment, Sort, Timeline
from racetrap.verdict.tracks import Track, near, timeline_of_tracks

_WARP_KINDS = (
    EventKind.LOAD, EventKind.STORE, EventKind.ATOMIC, EventKind.FENCE, EventKind.WARP_BARRIER,
    EventKind.BARRIER_ARRIVE, EventKind.CLUSTER_ARRIVE, EventKind.CLUSTER_WAIT, EventKind.EXIT,
)  # fmt: skip
_ATOMICS = {AtomicOp.CAS: "atomic CAS", AtomicOp.EXCH: "atomic exchange", AtomicOp.OTHER: "atomic"}
_OTHERS = {
    EventKind.FENCE: "fence", EventKind.BARRIER: "barrier", EventKind.WARP_BARRIER: "warp barrier",
    EventKind.BARRIER_ARRIVE: "arrival at barrier", EventKind.PARTIAL_BARRIER: "partial barrier",
    EventKind.CLUSTER_ARRIVE: "arrival at barrier of the cluster",
    EventKind.CLUSTER_WAIT: "wait at barrier of the cluster", EventKind.EXIT: "exit",
    EventKind.COPY_READ: "copy reads", EventKind.COPY_WRITE: "copy writes",
    EventKind.KERNEL_BEGIN: "kernel begins", EventKind.KERNEL_END: "kernel ends",
}  # fmt: skip
_SCOPES = {EventScope.BLOCK: ", block scope", EventScope.CLUSTER: ", cluster scope"}
_ENDS = (EventKind.KERNEL_BEGIN, EventKind.KERNEL_END)
_SORTS = {
    EventKind.LOAD: Sort.ACCESS, EventKind.STORE: Sort.ACCESS, EventKind.ATOMIC: Sort.ATOMIC,
    EventKind.COPY_READ: Sort.ACCESS, EventKind.COPY_WRITE: Sort.ACCESS,
}  # fmt: skip
_TOO_LATE, _TOO_NARROW, _NO_RELEASE, _NO_ACQUIRE = (
    "too late", "too narrow", "no release", "no acquire",
)  # fmt: skip


def tracks_of(race: LineRace, trace: Trace, header: TraceHeader) -> tuple[GpuTrack, GpuTrack]:
    """The two threads of a race, that of the earlier access first.

    Parameters
    ----------
    race : LineRace
        A race of the oracle in the trace.
    trace : Trace
        The trace.
    header : TraceHeader
        Its header, with places of sources that can be read.
    """
    return GpuTrack(race, 0, trace, header), GpuTrack(race, 1, trace, header)


def timeline_of(race: LineRace, threads: Sequence[GpuTrack]) -> Timeline:
    """What both threads of a race did around their accesses."""
    timeline = timeline_of_tracks(threads, (threads[0].actor, threads[1].actor))
    received = {number for _, number in timeline.messages}
    moments = tuple(
        # The second thread may also run what the first lacks, for threads of its own.
        moment._replace(lack="")
        if moment.lack == _NO_ACQUIRE and number not in received
        else moment
        for number, moment in enumerate(timeline.moments)
    )
    return replace(timeline, moments=moments)


class GpuTrack(Track):
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
        self._names = MemoryNames(header)
        side = (race.earlier, race.later)[number]
        access, self.thread = (int(side.details[name]) for name in ("event", "thread"))
        self.actor = side.actor or side.access
        self._lane = 1 << self.thread % WARP_SIZE
        begin, window = near(trace.events, access)
        own = np.flatnonzero(self._own(window, access - begin))
        records = window[own]
        kind, pc = records["kind"], records["pc"]
        if race.relation == RaceClass.INTER_LAUNCH.value:
            named, may_order = np.isin(kind, _ENDS), np.zeros(len(own), dtype=bool)
        else:
            named = np.isin(pc, self._named_pcs())
            may_order = (kind > EventKind.STORE) | (records["strong"] != 0)
        # Begin and end of a kernel have no instruction.
        instructions = pc.astype(np.int64) << 8 | kind
        super().__init__(access, own + begin, instructions, may_order, named)

    def record(self, event: int) -> np.void:
        """An event of the trace."""
        record: np.void = self._trace.events[event]
        return record

    def orders(self, behind: bool) -> list[int]:
        """Its events after its access, or before, that may order that, in the order of the run."""
        is_side = self.events > self.access if behind else self.events < self.access
        chosen: list[int] = self.events[is_side & self._may_order].tolist()
        return chosen

    def sent(self, event: int) -> Hashable:
        """Location that an event may write."""
        writes = self._trace.events["kind"][event] in (EventKind.STORE, EventKind.ATOMIC)
        return self._location(event) if writes else None

    def received(self, event: int) -> Hashable:
        """Location that an event may read."""
        reads = self._trace.events["kind"][event] in (EventKind.LOAD, EventKind.ATOMIC)
        return self._location(event) if reads else None

    def _location(self, event: int) -> tuple[int, ...]:
        """Memory and address that this thread accesses, and its block if it is shared memory."""
        record = self._trace.events[event]
        lane = int(record["first_lane"])
        if record["kind"] <= EventKind.ATOMIC:
            lane += (int(record["mask"]) & (self._lane - 1)).bit_count()
        space, address = int(record["space"]), int(self._trace.lanes["address"][lane])
        # An address says whose memory it is, if the threads are of one cluster.
        is_own = space == Space.SHARED and "owner" not in self._race.details
        return (space, address, *[int(record["sm"]), int(record["slot"])] * is_own)

    def _own(self, window: np.ndarray, access: int) -> np.ndarray:
        """Which events of a window are of this thread."""
        kind = np.ascontiguousarray(window["kind"])
        own = np.zeros(len(window), dtype=bool)
        own[access] = True
        if kind[access] in COPY_KINDS:
            return own
        record = window[access]
        in_slot = (window["sm"] == record["sm"]) & (window["slot"] == record["slot"])
        mask = window["mask"]
        has_lane = (mask == 0) | (mask & self._lane != 0)
        has_warp = (mask == 0) | (mask >> np.uint32(self.thread // WARP_SIZE) & 1 != 0)
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

    def moment(self, event: int, side: int) -> Moment:
        """An event in words, with what it accesses."""
        record = self._trace.events[event]
        pc, place, name = int(record["pc"]), "", ""
        if record["kind"] not in _ENDS:
            place = place_of(pc, self._header.locations)
            stack = self._header.stacks.get(pc, 0)
            _, place = own_place(chain_of(place, self._header.frames, stack))
        if record["kind"] <= EventKind.ATOMIC:
            space, address, *_ = self._location(event)
            launch, size = self._race.details["launch"], max(int(record["size"]), 1)
            found = self._names.named(Space(space), address, launch, size)
            name = "".join([found[0].name, found[1]]) if found[0] and found[0].name else ""
        return Moment(
            event, (side,), _words(record), name, place, _SORTS.get(record["kind"], Sort.ORDER),
            lack=self._lack(pc),
        )  # fmt: skip


def _words(record: np.void) -> str:
    """An event in words."""
    kind, order = EventKind(record["kind"]), MemoryOrder(record["order"])
    named = f"{order.name.lower().replace('_', '-')} " * (order is not MemoryOrder.IMPLIED)
    scope = _SCOPES.get(EventScope(record["scope"]), "")
    if kind in _OTHERS:
        words = _OTHERS[kind]
        return f"{named}{words}{scope}" if kind is EventKind.FENCE else words
    if kind is EventKind.ATOMIC:
        return f"{named}{_ATOMICS[AtomicOp(record['op'])]}{scope}"
    if not record["strong"]:
        return kind.name.lower()
    return f"{named or 'volatile '}{kind.name.lower()}{scope}"
