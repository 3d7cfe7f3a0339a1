"""Random memory orders for the accesses and fences of a trace, barriers of warps, and clusters."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np

from racetrap.golden_model.barracuda.kernel import Kernel, kernels_of
from racetrap.golden_model.events import SHARED_BITS, EventKind, EventScope, MemoryOrder, Space
from racetrap.golden_model.trace import Trace

_CHOICES = {
    EventKind.LOAD: (MemoryOrder.IMPLIED, MemoryOrder.RELAXED, MemoryOrder.ACQUIRE),
    EventKind.STORE: (MemoryOrder.IMPLIED, MemoryOrder.RELAXED, MemoryOrder.RELEASE),
}
_OTHERS = (
    MemoryOrder.IMPLIED, MemoryOrder.ACQUIRE, MemoryOrder.RELEASE, MemoryOrder.ACQ_REL,
)  # fmt: skip

#: Fields of a barrier behind an event.
_BarrierBehind = Callable[[np.void], dict[str, int]]


def with_random_orders(trace: Trace, rng: Random) -> Trace:
    """The trace with an order of each strong access and each fence."""
    events = trace.events.copy()
    for event in events:
        kind = EventKind(event["kind"])
        if kind <= EventKind.FENCE and (event["strong"] or kind == EventKind.FENCE):
            event["order"] = rng.choice(_CHOICES.get(kind, _OTHERS))
    return Trace(trace.header, events, trace.lanes)


def with_others_between(trace: Trace, rng: Random) -> Trace:
    """The trace with blocks that do nothing between its own: numbers of warps are far apart."""
    events = trace.events
    # Blocks of a cluster are placed one after the other.
    firsts = np.flatnonzero((events["kind"] == EventKind.BLOCK_PLACED) & (events["size"] == 0))
    counts = [rng.choice((0, 1, 20)) for _ in firsts]
    others = np.zeros(2 * sum(counts), events.dtype)
    others["kind"] = np.tile([EventKind.BLOCK_PLACED, EventKind.BLOCK_RETIRED], sum(counts))
    geometry = trace.header.geometry
    others["sm"], others["warp_count"][::2] = geometry.sm_count, 32
    rows = np.repeat(firsts, 2 * np.array(counts))
    others["first_lane"] = events["first_lane"][rows]
    wider = replace(geometry, sm_count=geometry.sm_count + 1, warps_per_sm=32)
    header = replace(trace.header, geometry=wider)
    return Trace(header, np.insert(events, rows, others), trace.lanes)


def with_clusters(trace: Trace, rng: Random, size: int = 2) -> Trace:
    """The trace with its blocks in clusters: some scopes are that of the cluster, accesses go to
    the shared memory of any of its blocks, its warps meet at barriers in phases, and exit."""
    events, lanes = trace.events.copy(), trace.lanes.copy()
    placed = events["kind"] == EventKind.BLOCK_PLACED
    events["size"][placed] = events["grid_block"][placed] % size
    widened = {pc for pc in np.unique(events["pc"]).tolist() if rng.random() < 0.4}
    for event in events:
        is_strong = event["kind"] == EventKind.FENCE or event["strong"]
        if is_strong and int(event["pc"]) in widened:
            event["scope"] = EventScope.CLUSTER
    behind: dict[int, list[np.void]] = {}
    for kernel in kernels_of(Trace(trace.header, events, lanes)):
        counts, meetings = np.bincount(kernel.cluster), _Meetings(kernel, rng)
        for row, event in enumerate(kernel.events):
            if event["kind"] <= EventKind.ATOMIC and event["space"] == Space.SHARED:
                ranks = int(counts[kernel.cluster[kernel.block[row]]])
                for address in lanes["address"][int(event["first_lane"]) :][
                    : int(event["mask"]).bit_count(), np.newaxis
                ]:
                    address += np.uint64(rng.randrange(ranks) << SHARED_BITS)
            if event["kind"] <= EventKind.FENCE and rng.random() < 0.3:
                behind[kernel.begin + row] = [meetings.event(int(kernel.block[row]), event)]
        last = int(np.flatnonzero(kernel.kind == EventKind.BLOCK_RETIRED)[0]) - 1
        behind.setdefault(kernel.begin + last, []).extend(_exits(kernel, rng, last + 1))
    parts = [each for row, event in enumerate(events) for each in (event, *behind.get(row, ()))]
    return Trace(trace.header, np.array(parts, dtype=events.dtype), lanes)


def _exits(kernel: Kernel, rng: Random, row: int) -> list[np.void]:
    """Exits of all warps, before an event."""
    exits = []
    for warp in rng.sample(range(len(kernel.warp_block)), len(kernel.warp_block)):
        event = _event_of(kernel, warp, EventKind.EXIT, kernel.events["first_lane"][row])
        event["mask"] = kernel.live[warp]
        exits.append(event)
    return exits


def _event_of(kernel: Kernel, warp: int, kind: EventKind, first_lane: np.uint64) -> np.void:
    """An event of a warp, with a program counter of its kind."""
    block = int(kernel.warp_block[warp])
    placed = kernel.events[kernel.kind == EventKind.BLOCK_PLACED][block]
    event = np.zeros((), dtype=kernel.events.dtype)
    event["kind"], event["pc"], event["first_lane"] = kind, 0x4_2000 + 8 * kind, first_lane
    event["sm"], event["slot"] = placed["sm"], placed["slot"]
    event["warp"] = placed["warp"] + warp - kernel.first_warp[block]
    return event


class _Meetings:
    """Meetings of the warps of a kernel's clusters."""

    def __init__(self, kernel: Kernel, rng: Random) -> None:
        self._kernel, self._rng = kernel, rng
        #: Arrivals and waits of each warp.
        self._arrivals = [0] * len(kernel.warp_block)
        self._waits = [0] * len(kernel.warp_block)

    def event(self, block: int, before: np.void) -> np.void:
        """What one of the warps of a block's cluster does next, behind an event."""
        kernel, rng = self._kernel, self._rng
        blocks = np.flatnonzero(kernel.cluster == kernel.cluster[block])
        warps = [warp for each in blocks for warp in kernel.warps_of(int(each))]
        least = min(self._arrivals[warp] for warp in warps)
        able = [
            warp for warp in warps
            if self._arrivals[warp] == self._waits[warp] or self._arrivals[warp] <= least
        ]  # fmt: skip
        warp = rng.choice(able)
        arrives = self._arrivals[warp] == self._waits[warp]
        (self._arrivals if arrives else self._waits)[warp] += 1
        lanes = int(before["mask"]).bit_count() if before["kind"] != EventKind.FENCE else 0
        kind = EventKind.CLUSTER_ARRIVE if arrives else EventKind.CLUSTER_WAIT
        event = _event_of(kernel, warp, kind, before["first_lane"] + np.uint64(lanes))
        if arrives:
            event["order"] = rng.choice((MemoryOrder.RELEASE, MemoryOrder.RELAXED))
        return event


def _with_barriers(trace: Trace, rng: Random, barrier_behind: _BarrierBehind) -> Trace:
    """The trace with barriers behind some of its accesses and fences."""
    parts = []
    for event in trace.events:
        parts.append(event)
        if event["kind"] <= EventKind.FENCE and rng.random() < 0.2:
            barrier = np.zeros((), dtype=event.dtype)
            for name, value in barrier_behind(event).items():
                barrier[name] = value
            for name in ("sm", "slot"):
                barrier[name] = event[name]
            lanes = int(event["mask"]).bit_count() if event["kind"] != EventKind.FENCE else 0
            barrier["first_lane"] = event["first_lane"] + lanes
            parts.append(barrier)
    return Trace(trace.header, np.array(parts, dtype=trace.events.dtype), trace.lanes)


def with_warp_barriers(trace: Trace, rng: Random) -> Trace:
    """The trace with a barrier of a warp's lanes behind some of its accesses."""

    def behind(event: np.void) -> dict[str, int]:
        mask = rng.choice((0, int(event["mask"]), rng.randrange(1, 1 << 32)))
        kind = EventKind.WARP_BARRIER
        return {"kind": kind, "warp": event["warp"], "pc": 0x4_0000, "mask": mask}

    return _with_barriers(trace, rng, behind)


def with_partial_barriers(trace: Trace, rng: Random) -> Trace:
    """The trace with barriers of some warps of a block, and arrivals at them, behind accesses."""
    placed = trace.events[trace.events["kind"] == EventKind.BLOCK_PLACED]
    fewest = int(placed["warp_count"].min(initial=1))

    def behind(event: np.void) -> dict[str, int]:
        barrier = {"pc": 0x4_1000, "grid_block": rng.randrange(2)}
        if rng.random() < 0.5:
            return barrier | {"kind": EventKind.BARRIER_ARRIVE, "warp": event["warp"]}
        return barrier | {"kind": EventKind.PARTIAL_BARRIER, "mask": rng.randrange(1 << fewest)}

    return _with_barriers(trace, rng, behind)
