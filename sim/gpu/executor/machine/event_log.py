"""Event log of a device: the arrays of a trace, appended to by launches.

Events are packed as they happen into bytes of the trace's own format: 40 bytes an event and 24
a lane, and nothing to convert at the end.  With a judge, a run that is too long to be kept is given
to it part by part, and forgotten; it judges a part while the next one is made.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor
from ctypes import c_int64
from struct import Struct
from typing import TYPE_CHECKING, Protocol

import numpy as np

from racetrap.golden_model.events import WARP_SIZE, EventKind, EventScope, MemoryOrder
from racetrap.golden_model.trace.gpu.schema import EVENT_DTYPE, LANE_DTYPE

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.access import Access
    from racetrap.sim.gpu.executor.machine.thread_block import ThreadBlock
    from racetrap.sim.gpu.executor.machine.warp import Warp


_EVENT_BYTES, _LANE_BYTES = EVENT_DTYPE.itemsize, LANE_DTYPE.itemsize
#: The fields of ``EVENT_DTYPE`` in order.
_pack_into = Struct("<8B5I2HQ").pack_into
#: Events for which there is room at first, and lanes.
_FIRST_ROOM = 1 << 10


#: Bytes of events and lanes from which on they go to a judge.
MOST_KEPT = 1 << 25


def is_sampled(block: int, share: float) -> bool:
    """Whether a block belongs to a sample of a share of all: pairs of neighbours, evenly spread."""
    pair = block // 2
    return math.ceil((pair + 1) * share) > math.ceil(pair * share)


class Judge(Protocol):
    """Takes events as they come, in a thread of its own."""

    def feed(self, events: np.ndarray, lanes: np.ndarray, first_lane: int) -> None:
        """Take events; ``first_lane`` is the number of the first record of the lanes."""


class LogCursor(ctypes.Structure):
    """Where a log's events and lanes are in memory, how many bytes of each there are, and for how
    many there is room.

    ``lanes_before`` counts the lanes that the judge has taken.  ``is_refused`` is set by a loop
    that has done nothing.
    """

    _fields_ = tuple(
        (name, c_int64)
        for name in (
            "events", "event_bytes", "event_room", "lanes", "lane_bytes", "lane_room",
            "lanes_before", "is_refused",
        )
    )  # fmt: skip


class EventLog:
    """Events and lanes so far.

    Parameters
    ----------
    make_judge : callable, optional
        Makes the judge of a run that is too long to be kept; without it all is kept.
    chosen : collection of int, optional
        Program counters of the weak accesses that are logged; by default all.
    share : float
        Share of the blocks whose weak accesses are logged.

    Attributes
    ----------
    blocks : int
        Blocks so far whose weak accesses are logged.
    judge : Judge or None
        The judge, if the run has become too long.
    cursor : LogCursor
        Where the next event goes.
    is_whole : bool
        Whether all accesses are logged.
    """

    def __init__(
        self, make_judge: Callable[[], Judge] | None = None,
        chosen: Collection[int] | None = None, share: float = 1.0,
    ) -> None:  # fmt: skip
        self._make_judge, self._chosen, self._share = make_judge, chosen, share
        self.is_whole, self.blocks = chosen is None and share >= 1, 0
        self.judge: Judge | None = None
        #: Where the judge works while the run goes on, and what it does.
        self._thread = ThreadPoolExecutor(1)
        self._feeding: Future[None] | None = None
        #: Arrays of the part before, and whether others have those of this one.
        self._before: tuple[np.ndarray, np.ndarray] | None = None
        self._given = False
        self.cursor = LogCursor()
        self._events = self._lanes = np.empty(0, np.uint8)
        self._make_room()
        #: Events that the judge has taken, and their program counters.
        self._events_before = 0
        self._pcs: set[int] = set()
        #: Kernels and copies so far.
        self.operations = 0

    def _make_room(self) -> None:
        """Go on in new arrays, as large as before or with room for twice what there is."""
        cursor = self.cursor
        event_room = 2 * cursor.event_bytes + _FIRST_ROOM * _EVENT_BYTES
        lane_room = 2 * cursor.lane_bytes + _FIRST_ROOM * _LANE_BYTES
        events = np.empty(max(cursor.event_room, event_room), np.uint8)
        lanes = np.empty(max(cursor.lane_room, lane_room), np.uint8)
        events[: cursor.event_bytes] = self._events[: cursor.event_bytes]
        lanes[: cursor.lane_bytes] = self._lanes[: cursor.lane_bytes]
        self._go_on_in(events, lanes)

    def _go_on_in(self, events: np.ndarray, lanes: np.ndarray) -> None:
        self._events, self._lanes, self._given = events, lanes, False
        cursor = self.cursor
        cursor.events, cursor.event_room = events.ctypes.data, events.nbytes
        cursor.lanes, cursor.lane_room = lanes.ctypes.data, lanes.nbytes

    def _append(self, lanes: np.ndarray | None, *fields: int) -> None:
        """An event by its fields but the last, and its lanes: u64, shape (lanes, 3)."""
        cursor = self.cursor
        # A loop that has been refused finds room the next time.
        if (
            cursor.event_bytes + 2 * _EVENT_BYTES > cursor.event_room
            or cursor.lane_bytes + 2 * WARP_SIZE * _LANE_BYTES > cursor.lane_room
        ):
            self._make_room()
        first_lane = cursor.lanes_before + cursor.lane_bytes // _LANE_BYTES
        _pack_into(self._events.data, cursor.event_bytes, *fields, first_lane)
        cursor.event_bytes += _EVENT_BYTES
        if lanes is not None:
            end = cursor.lane_bytes + lanes.nbytes
            self._lanes[cursor.lane_bytes : end] = lanes.reshape(-1).view(np.uint8)
            cursor.lane_bytes = end

    @property
    def count(self) -> int:
        """Events so far."""
        return self._events_before + self.kept

    @property
    def kept(self) -> int:
        """Events that are kept."""
        return int(self.cursor.event_bytes) // _EVENT_BYTES

    @property
    def pcs(self) -> set[int]:
        """Program counters so far."""
        return self._pcs | set(np.unique(self._kept()[0]["pc"]).tolist())

    @property
    def is_bounded(self) -> bool:
        """Whether no more is kept than a part."""
        return self._make_judge is not None

    def settle(self, at_end: bool = False) -> None:
        """Give the judge what there is, if that is too much to be kept, or the run is at its end
        and has begun to be judged."""
        if self._make_judge is None:
            return
        cursor = self.cursor
        if cursor.event_bytes + cursor.lane_bytes < MOST_KEPT and not (at_end and self.judge):
            return
        if self.judge is None:
            self.judge = self._make_judge()
        if self._feeding is not None:
            self._feeding.result()
        # The judge is done with the part before.
        free = self._before
        self._before = None if self._given else (self._events, self._lanes)
        events, lanes = self._kept()
        self._feeding = self._thread.submit(self.judge.feed, events, lanes, cursor.lanes_before)
        if at_end:
            self._feeding.result()
        self._pcs |= set(np.unique(events["pc"]).tolist())
        self._events_before += len(events)
        cursor.lanes_before += len(lanes)
        cursor.event_bytes = cursor.lane_bytes = 0
        if free is None:
            self._make_room()
        else:
            self._go_on_in(*free)

    def access(self, warp: Warp, access: Access, mask: int, success: int, rows: np.ndarray) -> None:
        """A load, store or atomic.

        Parameters
        ----------
        warp : Warp
            Who.
        access : Access
            The instruction.
        mask, success : int
            Active lanes, and those whose CAS succeeded.
        rows : numpy.ndarray
            Address, value and expected value of each active lane: u64, shape (lanes, 3).
        """
        if not (self.is_whole or access.strong or self._is_chosen(warp, access)):
            return
        self._append(
            rows, access.kind, access.scope, access.strong, access.op, access.event_size,
            warp.slot, warp.number, 0, warp.sm, access.pc, 0, mask, success, access.space_code,
            access.order,
        )  # fmt: skip

    def _is_chosen(self, warp: Warp, access: Access) -> bool:
        if self._chosen is not None and access.pc not in self._chosen:
            return False
        return is_sampled(warp.block.index, self._share)

    def _event(
        self, kind: EventKind, scope: int, slot: int, warp: int, warps: int, sm: int, pc: int,
        grid_block: int, mask: int, order: int = 0, size: int = 0,
    ) -> None:  # fmt: skip
        self._append(
            None, kind, scope, 0, 0, size, slot, warp, warps, sm, pc, grid_block, mask, 0, 0, order
        )

    def warp_event(self, kind: EventKind, warp: Warp, pc: int, mask: int) -> None:
        """IF, ELSE, FI, EXIT or WARP_BARRIER of lanes."""
        self._event(kind, 0, warp.slot, warp.number, 0, warp.sm, pc, 0, mask)

    def fence(self, warp: Warp, pc: int, mask: int, scope: EventScope, order: MemoryOrder) -> None:
        """A fence by lanes."""
        self._event(EventKind.FENCE, scope, warp.slot, warp.number, 0, warp.sm, pc, 0, mask, order)

    def barrier(self, block: ThreadBlock, pc: int) -> None:
        """All warps of a block have arrived at a barrier."""
        self._event(EventKind.BARRIER, 0, block.slot, 0, 0, block.sm, pc, 0, 0)

    def arrival(self, warp: Warp, pc: int, number: int) -> None:
        """A warp arrives at a barrier and does not wait."""
        self._event(
            EventKind.BARRIER_ARRIVE, 0, warp.slot, warp.number, 0, warp.sm, pc, number, 0
        )  # fmt: skip

    def partial_barrier(self, block: ThreadBlock, pc: int, number: int, warps: int) -> None:
        """Some warps of a block, a bit each, pass a barrier."""
        self._event(
            EventKind.PARTIAL_BARRIER, 0, block.slot, 0, 0, block.sm, pc, number, warps
        )  # fmt: skip

    def cluster_arrival(self, warp: Warp, pc: int, mask: int, order: MemoryOrder) -> None:
        """Lanes arrive at the barrier of their cluster."""
        self._event(
            EventKind.CLUSTER_ARRIVE, 0, warp.slot, warp.number, 0, warp.sm, pc, 0, mask, order
        )  # fmt: skip

    def cluster_wait(self, warp: Warp, pc: int, mask: int) -> None:
        """Lanes have waited at the barrier of their cluster."""
        self.warp_event(EventKind.CLUSTER_WAIT, warp, pc, mask)

    def placed(self, block: ThreadBlock, first_warp: int, last_mask: int) -> None:
        """A block takes its place; ``last_mask`` has the lanes of its last warp."""
        self.blocks += is_sampled(block.index, self._share)
        self._event(
            EventKind.BLOCK_PLACED, 0, block.slot, first_warp, len(block.warps), block.sm, 0,
            block.index, last_mask, size=block.rank,
        )  # fmt: skip

    def retired(self, block: ThreadBlock) -> None:
        """A block leaves its place."""
        self._event(EventKind.BLOCK_RETIRED, 0, block.slot, 0, 0, block.sm, 0, 0, 0)

    def after(self, operation: int) -> None:
        """The next operation comes after one before."""
        self._event(EventKind.AFTER, 0, 0, 0, 0, 0, 0, operation, 0)

    def kernel_begin(self, stream: int, pc: int) -> None:
        """A kernel begins, in a stream and for a call."""
        self.operations += 1
        self._event(EventKind.KERNEL_BEGIN, 0, 0, 0, 0, 0, pc, stream, 0)

    def kernel_end(self) -> None:
        """The kernel ends."""
        self._event(EventKind.KERNEL_END, 0, 0, 0, 0, 0, 0, 0, 0)

    def copy(self, kind: EventKind, ranges: np.ndarray, stream: int, pc: int) -> None:
        """COPY_READ or COPY_WRITE of at most 32 ranges: u64, shape (ranges, 2)."""
        self.operations += 1
        lanes = np.zeros((len(ranges), 3), np.uint64)
        lanes[:, :2] = ranges
        mask = (1 << len(ranges)) - 1
        self._append(lanes, kind, 0, 0, 0, 0, 0, 0, 0, 0, pc, stream, mask, 0, 0, 0)

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Event and lane records so far; what is logged later does not change them."""
        self._given = True
        return self._kept()

    def _kept(self) -> tuple[np.ndarray, np.ndarray]:
        cursor = self.cursor
        events, lanes = self._events[: cursor.event_bytes], self._lanes[: cursor.lane_bytes]
        return events.view(EVENT_DTYPE), lanes.view(LANE_DTYPE)

    def since(self, count: int) -> tuple[bytes, bytes]:
        """Copies of the event and lane records behind the first ``count`` events, all kept."""
        events, lanes = self._kept()
        events = events[count - self._events_before :]
        if not len(events):
            return b"", b""
        first_lane = int(events["first_lane"][0]) - self.cursor.lanes_before
        return events.tobytes(), lanes[first_lane:].tobytes()


class Unlogged:
    """Judge of what is not to be judged."""

    def feed(self, events: np.ndarray, lanes: np.ndarray, first_lane: int) -> None:
        """Forget it."""
