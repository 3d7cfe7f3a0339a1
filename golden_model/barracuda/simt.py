"""SIMT stacks: which lanes of a warp run, and the clocks of those that wait.

Ref: BARRACUDA (PLDI'17) Sections 3.3.1 and 4.3.1, rules IF, ELSEENDIF and BAR.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field

from racetrap.golden_model.barracuda.compressed import NOTHING, START, Clock, Knowledge, Place
from racetrap.golden_model.events import EventKind

__all__ = ["Warp"]


@dataclass(slots=True)
class _Branch:
    """A branch that has not come together: the side that waits, and who was there at IF."""

    waiting: Clock
    live: int


@dataclass(slots=True)
class Warp:
    """A warp with the clock of its active lanes and the stack of its branches.

    A lane that exits takes no further part, but counts as being there at every later barrier:
    the barrier does not wait for it, and all that it did lies behind.

    Parameters
    ----------
    place : Place
        Where the warp is.
    live : int
        Lanes that there are and that have not exited.
    clock : Clock
        Clock of the active lanes.
    stack : list
        Open branches, the outermost first.
    left : Knowledge
        What lanes that have exited in a branch knew from releases; the next barrier passes it on.
    seen : tuple of Knowledge
        What the active lanes acquired last: to acquire it again adds nothing.
    """

    place: Place
    live: int
    clock: Clock = START
    stack: list[_Branch] = field(default_factory=list)
    left: Knowledge = NOTHING
    seen: tuple[Knowledge, ...] = ()

    def branch(self, kind: EventKind, mask: int, now: int) -> None:
        """IF, ELSE, FI or EXIT of the lanes of a mask."""
        self.seen = ()
        if kind == EventKind.EXIT:
            self.live &= ~(mask & self.clock.mask)
        elif kind == EventKind.IF:
            self.clock, other = self.clock.part(mask, now)
            self.stack.append(_Branch(other, self.live))
        elif kind == EventKind.ELSE:
            side = self.stack[-1]
            self.clock, side.waiting = side.waiting, self.clock
        else:
            branch = self.stack.pop()
            self._meet(branch.waiting, branch.live & ~self.live, now)

    def _meet(self, other: Clock, gone: int, now: int) -> None:
        """Come together with the side that ran first; a side whose lanes are all gone does not."""
        if not self.clock.mask & self.live:
            self.clock, other = other, self.clock
        if other.mask & self.live:
            self.clock = self.clock.meet(other, gone, now)
        else:
            self.left = self.left.join(other.far)

    @property
    def far(self) -> Iterator[Knowledge]:
        """What all threads of the warp know from releases."""
        yield self.left
        yield self.clock.far
        for branch in self.stack:
            yield branch.waiting.far

    @property
    def absent(self) -> int:
        """Lanes that are there but not active: none may be at a barrier."""
        return self.live & ~self.clock.mask

    def acquire(self, *released: Knowledge) -> None:
        """Let the active lanes know what was released."""
        if len(self.seen) == len(released) and all(map(operator.is_, self.seen, released)):
            return
        self.seen = released
        for known in released:
            self.clock = self.clock.acquire(self.place, known)

    def pass_barrier(self, whole: Clock) -> None:
        """Go on behind a barrier; lanes that were not there as well (that is an error already).

        Parameters
        ----------
        whole : Clock
            Clock of a converged warp behind the barrier.  Lanes that have exited are known to
            the end, so a warp without open branches counts as converged again.
        """
        self.left = NOTHING
        if not self.stack:
            self.clock = whole
            return
        self.clock = self.clock._replace(block_time=whole.block_time, far=whole.far)
        for branch in self.stack:
            waiting = branch.waiting
            branch.waiting = waiting._replace(block_time=whole.block_time, far=whole.far)
