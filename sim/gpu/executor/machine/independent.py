"""Warp whose lanes are scheduled independently, as from Volta on.

Lanes with the same program counter and call run together as a group; groups take turns whenever one
of them has branched backward, has reached a reconvergence point, or must wait, so that each lane
makes progress whatever the others do. Groups that reach the same instruction become one group.

Ref: PTX ISA 9.0, Section 3.1 (independent thread scheduling) and 9.7.13.2 (bar.warp.sync).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Any

from racetrap.golden_model.events import EventKind
from racetrap.sim.gpu.executor.machine.frame import Frame
from racetrap.sim.gpu.executor.machine.lanes import Parts
from racetrap.sim.gpu.executor.machine.program_counters import event_pc
from racetrap.sim.gpu.executor.machine.warp import (
    BLOCKED,
    ENDED,
    NOT_RUN,
    YIELD,
    Warp,
    WarpPosition,
)


class _Group:
    """Lanes at the same instruction of one call."""

    __slots__ = ("barrier", "frame", "has_yielded", "mask", "members", "pc", "together", "wait_pc")

    def __init__(self, pc: int, mask: int, frame: Frame):
        self.pc = pc
        self.mask = mask
        self.frame = frame
        #: Whether they have given the others time to reach the same instruction.
        self.has_yielded = False
        #: What they wait for: a barrier of the block, or these lanes of the warp.
        self.barrier = ""
        self.members = 0
        self.together = False
        self.wait_pc = 0

    def same_place(self, other: _Group) -> bool:
        """Whether both can go on as one."""
        return self.pc == other.pc and self.frame is other.frame

    def waits_with(self, other: _Group) -> bool:
        """Whether both wait for the same lanes, or must run one instruction together."""
        if self.barrier or self.together != other.together:
            return False
        return self.same_place(other) if self.together else self.members == other.members


class IndependentWarp(Warp):
    """A warp whose lanes have a program counter each."""

    __slots__ = ("_has_yielded", "_ready", "_waiting")

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self._ready: deque[_Group] = deque()
        self._waiting: list[_Group] = []
        self._has_yielded = False

    def _current(self) -> _Group:
        return _Group(self.pc, self.mask, self.frame)

    def _resume(self, group: _Group) -> None:
        """Run a group, with all that are at the same instruction."""
        for other in [other for other in self._ready if other.same_place(group)]:
            self._ready.remove(other)
            group.mask |= other.mask
        self._enter_frame(group.frame)
        self.pc, self._has_yielded = group.pc, group.has_yielded
        self.set_mask(group.mask)

    def _release_frame(self, frame: Frame) -> None:
        """Other groups may still run in it."""

    def diverge(self, taken: int, target: int, following: int, point: int, pc: int) -> None:
        self._ready.append(_Group(target, taken, self.frame))
        self.set_mask(self.mask & ~taken)
        self.pc = following

    def reconverge(self, point: int, pc: int) -> bool:
        if self._has_yielded or not self._ready:
            self._has_yielded = False
            return False
        current = self._current()
        current.has_yielded = True
        if any(other.same_place(current) for other in self._ready):
            self._resume(current)
        else:
            self._ready.append(current)
            self._resume(self._ready.popleft())
        return True

    def branch_back(self) -> int | None:
        self._has_yielded = False
        if self._ready:
            # They come first, so that this is not the only way on.
            self.polls.changed = True
            self._ready.append(self._current())
            self._resume(self._ready.popleft())
        return self._let_others_go(0) if self.polled else None

    def warp_sync(self, among: Parts, pc: int, together: bool) -> int | None:
        if together:
            # Different parts may run it at once.
            among = ((reduce(or_, (members for members, _ in among)), self.mask),)
        if not any(members & self.alive & ~lanes for members, lanes in among):
            if not together:
                for _, lanes in among:
                    self._met(pc, lanes)
            return None
        groups = []
        for members, lanes in among:
            group = _Group(self.pc, lanes, self.frame)
            group.members, group.together, group.wait_pc = members, together, pc
            groups.append(group)
        self._waiting += groups
        self._release_complete()
        for group in groups:
            if group in self._ready:
                self._ready.remove(group)
                self._resume(group)
                return NOT_RUN if together else None
        return NOT_RUN if self.proceed() is None else BLOCKED

    def _release_complete(self) -> None:
        """Let those go on that wait for lanes of the warp which are there, or have ended."""
        for group in list(self._waiting):
            if group.barrier or group not in self._waiting:
                continue
            others = [other for other in self._waiting if other.waits_with(group)]
            there = reduce(or_, (other.mask for other in others))
            if reduce(or_, (other.members for other in others)) & self.alive & ~there:
                continue
            for other in others:
                self._waiting.remove(other)
                self._ready.append(other)
            # Those that must run an instruction together do so as soon as they are one group.
            if not group.together:
                self._met(group.wait_pc, there)

    def _met(self, pc: int, mask: int) -> None:
        """Lanes have come together at ``bar.warp.sync``."""
        self.log.warp_event(EventKind.WARP_BARRIER, self, pc, mask)
        if self.launch.weak is not None:
            self.launch.weak.meet(self, mask)

    def lanes_ended(self, mask: int) -> None:
        self._release_complete()

    def suspend(self, name: str, pc: int) -> None:
        current = self._current()
        current.barrier, current.wait_pc = name, pc
        self._waiting.append(current)

    def release(self, name: str) -> None:
        for group in [group for group in self._waiting if group.barrier == name]:
            group.barrier = ""
            self._waiting.remove(group)
            self._ready.append(group)
        if self in self.launch.sleepers:
            self.launch.sleepers.wake(self)
        self._wake()

    def _wake(self) -> None:
        if self.blocked and self._ready:
            self.blocked = False
            self._resume(self._ready.popleft())
            self.launch.schedule.add(self)

    def proceed(self) -> int | None:
        if self._ready:
            self._resume(self._ready.popleft())
            return None
        self.blocked = True
        return BLOCKED

    def has_arrived(self, mask: int) -> bool:
        return not self.alive & ~mask

    def next_lanes(self) -> int:
        if not self.alive:
            return ENDED
        return YIELD if self.proceed() is None else BLOCKED

    def positions(self) -> Iterator[WarpPosition]:
        if not self.blocked:
            yield WarpPosition(event_pc(self.pc), self.mask, "")
        for group in self._ready:
            yield WarpPosition(event_pc(group.pc), group.mask, "")
        for group in self._waiting:
            members = f"lanes {group.members:#010x} of its warp"
            yield WarpPosition(group.wait_pc, group.mask, group.barrier or members)
