"""Reader of the log of an instrumented launch: its records become the events of a trace.

The order of records is that of the atomic that reserves them.  It agrees with the order of each
thread, with barriers, and with the order of strong accesses in memory, which are made under a lock:
so with all that orders two accesses.

Ref: BARRACUDA (PLDI'17) Section 4.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racetrap.golden_model.events import ALL_LANES, EventKind, lanes_of
from racetrap.golden_model.trace.gpu.schema import LANE_DTYPE
from racetrap.sim.gpu.executor.codegen.access_modes import alone, fence_mode
from racetrap.sim.gpu.executor.machine.access import Access, Load, Site, Store
from racetrap.sim.gpu.executor.machine.atomics import Atomic
from racetrap.sim.gpu.executor.machine.cluster import Cluster
from racetrap.sim.gpu.executor.machine.sleepers import Polls
from racetrap.sim.gpu.executor.machine.thread_block import ThreadBlock
from racetrap.sim.gpu.instrumented.sites import LogSite, SiteKind

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.launch import Launch
    from racetrap.sim.gpu.executor.machine.warp import Warp

#: Bytes of a unit, of which a record has one for its warp and one for each lane.
UNIT = 32
_HEADER_DTYPE = np.dtype([
    ("site", "<u4"), ("mask", "<u4"), ("block", "<u4"), ("warp", "<u4"), ("sm", "<u4"),
    ("written", "<u4"), ("number", "<u4"), ("threads", "<u4"),
])  # fmt: skip
_UNIT_DTYPE = np.dtype([("row", LANE_DTYPE), ("tag", "<u8")])
_KINDS: dict[str, type[Access]] = {
    "ld": Load, "ldu": Load, "st": Store, "atom": Atomic, "red": Atomic,
}  # fmt: skip
_SPACES = {0: "global", 1: "shared"}


class Record(NamedTuple):
    """A record of the log.

    Parameters
    ----------
    site : int
        Number of its site.
    mask : int
        Its lanes.
    block, warp, sm : int
        Block in the grid, warp of the block, and SM.
    number, threads : int
        Of a barrier, its number and its threads, or 0; of a variable, its address.
    lanes : numpy.ndarray
        A row and a tag for each lane; none if the record is brief.
    """

    site: int
    mask: int
    block: int
    warp: int
    sm: int
    number: int
    threads: int
    lanes: np.ndarray


def records(units: bytes, launch: int, sites: Sequence[LogSite]) -> Iterator[Record]:
    """Records of the units of a launch's log, up to the first that a thread has not written."""
    headers, lanes = np.frombuffer(units, _HEADER_DTYPE), np.frombuffer(units, _UNIT_DTYPE)
    at = 0
    while at < len(headers):
        site, mask, block, warp, sm, written, number, threads = headers[at].tolist()
        if written != launch:
            return
        end = at + 1 + (0 if sites[site].is_brief else mask.bit_count())
        if end > len(headers):
            return
        yield Record(site, mask, block, warp, sm, number, threads, lanes[at + 1 : end])
        at = end


class _Warp:
    """A warp of which the log tells, as far as blocks and the log of the executor need one."""

    def __init__(self, block: ThreadBlock, number: int, mask: int):
        self.block, self.number, self.alive = block, number, mask
        self.sm, self.slot = block.sm, block.slot
        self.polls = Polls()

    def suspend(self, name: str, pc: int) -> None:
        """Nothing waits here: the log says who goes on."""

    def release(self, name: str) -> None:
        """As above."""

    def has_arrived(self, mask: int) -> bool:
        """Whether a barrier at which the lanes of ``mask`` are counts the warp."""
        return not self.alive & ~mask


class LogReader:
    """Writes what a launch has logged into a trace.

    Parameters
    ----------
    launch : Launch
        The launch.
    sites : sequence of LogSite
        What the numbers in the records mean.

    Attributes
    ----------
    begun, ended : int
        Blocks that have begun, and those that have ended.
    """

    def __init__(self, launch: Launch, sites: Sequence[LogSite]):
        self._launch, self._log, self._sites = launch, launch.log, sites
        self._blocks: dict[int, ThreadBlock] = {}
        self._free: dict[int, list[int]] = {}
        #: Shared variables: addresses on the GPU and in the executor.
        self._shared: list[tuple[int, int]] = []
        self._accesses: dict[tuple[int, str], Access] = {}
        #: Lanes at ``bar.warp.sync``: members, lanes, program counter.
        self._waiting: dict[Warp, list[tuple[int, int, int]]] = {}
        self.begun = self.ended = 0

    def read(self, units: bytes, number: int) -> None:
        """Take the units of a log, of the launch of a number."""
        handlers = {
            SiteKind.ACCESS: self._access, SiteKind.FENCE: self._fence,
            SiteKind.BARRIER: self._barrier, SiteKind.WARP_BARRIER: self._warp_barrier,
            SiteKind.EXIT: self._exit,
        }  # fmt: skip
        self._find_variables(units, number)
        for record in records(units, number, self._sites):
            site = self._sites[record.site]
            if site.kind is not SiteKind.SHARED_VARIABLE:
                block = self._blocks.get(record.block) or self._place(record)
                handlers[site.kind](block.warps[record.warp], site, record)
        for block in list(self._blocks.values()):
            self._log.retired(block)

    # Blocks

    def _place(self, record: Record) -> ThreadBlock:
        """Place a block that the log has not told of yet."""
        launch = self._launch
        warps, last_mask = launch.warps_per_block, launch.last_mask
        most = min(launch.geometry.blocks_per_sm, launch.geometry.warps_per_sm // warps)
        free = self._free.setdefault(record.sm, list(range(most)))
        slot = free.pop(0)
        cluster = Cluster(launch, record.block, 1, 0)
        block = ThreadBlock(cluster, record.block, record.sm, slot, 0)
        first = slot * warps
        for number in range(warps):
            mask = last_mask if number == warps - 1 else ALL_LANES
            block.warps.append(_Warp(block, first + number, mask))  # type: ignore[arg-type]
        self._blocks[record.block] = block
        self._log.placed(block, first, last_mask)
        self.begun += 1
        return block

    def _exit(self, warp: Warp, site: LogSite, record: Record) -> None:
        mask = record.mask & warp.alive
        self._log.warp_event(EventKind.EXIT, warp, site.pc, mask)
        warp.alive &= ~mask
        self._meet(warp)
        block = warp.block
        block.lanes_ended(warp)
        if block.has_ended:
            self._log.retired(block)
            self.ended += 1
            del self._blocks[block.index]
            self._free[block.sm] = sorted([*self._free[block.sm], block.slot])

    # Accesses

    def _find_variables(self, units: bytes, number: int) -> None:
        """Find out where the shared variables are: the first block tells it before all else that it
        does, but other blocks may have begun before."""
        places = {each.name: each.offset for each in self._launch.program.shared_objects}
        found = set[tuple[int, int]]()
        for record in records(units, number, self._sites):
            site = self._sites[record.site]
            if site.kind is SiteKind.SHARED_VARIABLE:
                found.add((record.number, places[site.variable]))
            elif not record.block:
                break
        self._shared = sorted(found)

    def _of_executor(self, addresses: np.ndarray) -> np.ndarray:
        """Addresses of shared memory as the executor lays it out."""
        if not self._shared:
            return addresses
        ours, theirs = (np.array(each, np.uint64) for each in zip(*self._shared, strict=True))
        nearest = np.maximum(np.searchsorted(ours, addresses, "right") - 1, 0)
        return addresses - ours[nearest] + theirs[nearest]

    def _made(self, number: int, site: LogSite, space: str) -> Access:
        key = number, space
        if key not in self._accesses:
            assert site.instruction is not None
            assert site.mode is not None
            place = Site(site.instruction, "", site.pc, 0, 0)
            kind = _KINDS[site.instruction.opcode]
            self._accesses[key] = kind(place, site.mode, space)
        return self._accesses[key]

    def _access(self, warp: Warp, site: LogSite, record: Record) -> None:
        mode, tags = site.mode, record.lanes["tag"].astype(np.int64)
        assert mode is not None
        lanes = np.array(lanes_of(record.mask))
        if mode.before:
            self._log.fence(warp, site.pc, record.mask, mode.scope, mode.order)
        for code, space in _SPACES.items():
            chosen = (tags >> 8 & 0xFF) == code
            if not chosen.any():
                continue
            own = lanes[chosen]
            rows = record.lanes["row"][chosen].copy().view(np.uint64).reshape(len(own), -1)
            if space == "shared":
                rows[:, 0] = self._of_executor(rows[:, 0])
            hits = own[tags[chosen] >> 16 != 0]
            mask, success = (int((1 << each).sum()) for each in (own, hits))
            access = self._made(record.site, site, space)
            self._log.access(warp, access, mask, success, rows)
        if mode.after:
            self._log.fence(warp, site.pc, record.mask, mode.scope, mode.order)

    # Fences and barriers

    def _fence(self, warp: Warp, site: LogSite, record: Record) -> None:
        assert site.instruction is not None
        scope, order = fence_mode(site.instruction)
        self._log.fence(warp, site.pc, record.mask, alone(scope), order)

    def _barrier(self, warp: Warp, site: LogSite, record: Record) -> None:
        assert site.instruction is not None
        waits, block = "arrive" not in site.instruction.modifiers, warp.block
        threads = record.threads or None
        block.arrive(warp, record.mask, record.number, threads, waits, site.pc)
        block.try_open(record.number, site.pc)

    def _warp_barrier(self, warp: Warp, site: LogSite, record: Record) -> None:
        parts = dict[int, int]()
        for lane, row in zip(lanes_of(record.mask), record.lanes["row"], strict=True):
            members = int(row[0])
            parts[members] = parts.get(members, 0) | 1 << lane
        waiting = self._waiting.setdefault(warp, [])
        waiting += [(members, lanes, site.pc) for members, lanes in parts.items()]
        self._meet(warp)

    def _meet(self, warp: Warp) -> None:
        """Let lanes go on whose members have all come to ``bar.warp.sync``, or have ended."""
        waiting = self._waiting.get(warp, [])
        for members in dict.fromkeys(members for members, _, _ in waiting):
            own = [each for each in waiting if each[0] == members]
            there = reduce(or_, (lanes for _, lanes, _ in own))
            if not members & warp.alive & ~there:
                for each in own:
                    waiting.remove(each)
                self._log.warp_event(EventKind.WARP_BARRIER, warp, own[0][2], there)
