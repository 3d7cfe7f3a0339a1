"""Warp whose lanes run in lockstep, as before Volta.

Lanes that diverge at a branch go one side after the other, up to the branch's immediate
post-dominator, where they reconverge: a stack holds the branches that are open.

Ref: ScoRD (ISCA'20) Section II; BARRACUDA (PLDI'17) Section 3.1 (if, else, fi); Fung et al.,
"Dynamic Warp Formation" (MICRO'07), Section 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from racetrap.golden_model.events import EventKind
from racetrap.sim.gpu.executor.machine.frame import Frame
from racetrap.sim.gpu.executor.machine.lanes import Parts
from racetrap.sim.gpu.executor.machine.program_counters import event_pc
from racetrap.sim.gpu.executor.machine.warp import BLOCKED, ENDED, YIELD, Warp, WarpPosition


class _Branch:
    """An open branch: its lanes, reconvergence point, and the lanes of the second side."""

    __slots__ = ("frame", "lanes", "pc", "pending", "pending_pc", "point")

    def __init__(
        self, frame: Frame, lanes: int, point: int, pending: int, pending_pc: int, pc: int
    ):
        self.frame = frame
        self.lanes = lanes
        self.point = point
        self.pending = pending
        self.pending_pc = pending_pc
        self.pc = pc


class LockstepWarp(Warp):
    """A warp with one program counter.

    Lanes that do not branch go first.  A barrier in one side of a branch counts the whole warp:
    the lanes of the other side reach it on their own, if at all.
    """

    __slots__ = ("_point", "_stack", "_waits_at", "_waits_for")

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self._stack: list[_Branch] = []
        self._waits_for, self._waits_at = "", 0
        #: Where the side that runs comes to its end; -1 outside all branches of this call.
        self._point = -1

    def diverge(self, taken: int, target: int, following: int, point: int, pc: int) -> None:
        first = self.mask & ~taken
        self._stack.append(_Branch(self.frame, self.mask, point, taken, target, pc))
        self.log.warp_event(EventKind.IF, self, pc, first)
        self.set_mask(first)
        self.pc = following
        self._point = point

    def reconverge(self, point: int, pc: int) -> bool:
        if point != self._point:
            return False
        self._finish_side(pc)
        return True

    def _finish_side(self, pc: int) -> None:
        """The side that runs is done: begin the second one, or close the branch."""
        top = self._stack[-1]
        self._enter_frame(top.frame)
        if top.pending:
            self.log.warp_event(EventKind.ELSE, self, pc, top.pending)
            self.set_mask(top.pending)
            self.pc, top.pending = top.pending_pc, 0
            self._point = top.point
            return
        self._stack.pop()
        self.log.warp_event(EventKind.FI, self, pc, top.lanes)
        self.set_mask(top.lanes)
        self.pc = top.point
        below = self._stack[-1] if self._stack else None
        self._point = below.point if below and below.frame is self.frame else -1

    def next_lanes(self) -> int:
        while self._stack and self.alive and not self.mask:
            self._finish_side(self._stack[-1].pc)
        # Nothing was run, but nothing is left to be counted either.
        return YIELD if self.mask else ENDED

    def lanes_ended(self, mask: int) -> None:
        for branch in self._stack:
            branch.lanes &= ~mask

    def _enter_frame(self, frame: Frame) -> None:
        if frame.caller is self.frame:
            self.frame.reconvergence, self._point = self._point, -1
        elif self.frame.caller is frame:
            self._point = frame.reconvergence
        super()._enter_frame(frame)

    def _release_frame(self, frame: Frame) -> None:
        self.launch.release_frame(frame)

    def branch_back(self) -> int | None:
        return self._let_others_go(len(self._stack)) if self.polled else None

    def warp_sync(self, among: Parts, pc: int, together: bool) -> int | None:
        if not together:
            for members, lanes in among:
                self.log.warp_event(EventKind.WARP_BARRIER, self, pc, lanes & members or lanes)
        return None

    def suspend(self, name: str, pc: int) -> None:
        self._waits_for, self._waits_at = name, pc

    def release(self, name: str) -> None:
        self._waits_for = ""
        if self.blocked:
            self.blocked = False
            self.launch.schedule.add(self)

    def proceed(self) -> int | None:
        if self._waits_for:
            self.blocked = True
            return BLOCKED
        return None

    def has_arrived(self, mask: int) -> bool:
        return True

    def positions(self) -> Iterator[WarpPosition]:
        here = self._waits_at if self._waits_for else event_pc(self.pc)
        yield WarpPosition(here, self.mask, self._waits_for)
        for branch in reversed(self._stack):
            if branch.pending:
                yield WarpPosition(
                    event_pc(branch.pending_pc), branch.pending, "the other side of a branch"
                )
            waiting = branch.lanes & ~branch.pending & ~self.mask
            if waiting:
                yield WarpPosition(
                    event_pc(branch.point), waiting, "lanes of its warp that have branched"
                )
