"""SIMT stacks: the active lanes of a warp, and the clocks of waiting lanes.

Ref: BARRACUDA (PLDI'17) Sections 3.3.1 and 4.3.1, rules IF, ELSEENDIF and BAR.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field

from racetrap.golden_model.barracuda.compressed import NOTHING, START, Clock, Knowledge, Place
from racetrap.golden_model.events import ALL_LANES, EventKind


@dataclass(slots=True)
class _Branch:
    """A branch that has not reconverged.

    Parameters
    ----------
    lanes : int
        Lanes that wait: those of the second side, then those of the first.
    clock : Clock
        Their clock.
    live : int
        Lanes that had not exited at IF.
    """

    lanes: int
    clock: Clock
    live: int


@dataclass(slots=True)
class Warp:
    """A warp with the clock of its active lanes and the stack of its branches.

    A lane that has exited counts as present at every later barrier: the barrier does not wait for
    it, and all its operations are complete.

    Parameters
    ----------
    place : Place
        Where the warp is.
    live : int
        Lanes that have not exited.
    active : int
        Lanes that run now.
    clock : Clock
        Their clock.
    stack : list
        Open branches, the outermost first.
    left : Knowledge
        Knowledge from releases of lanes that exited in a branch; the next barrier passes it on.
    seen : tuple of Knowledge
        Latest knowledge acquired by the active lanes: acquiring it again adds nothing.
    """

    place: Place
    live: int
    active: int = ALL_LANES
    clock: Clock = START
    stack: list[_Branch] = field(default_factory=list)
    left: Knowledge = NOTHING
    seen: tuple[Knowledge, ...] = ()

    def branch(self, kind: EventKind, mask: int, now: int) -> None:
        """IF, ELSE, FI or EXIT of the lanes of a mask."""
        self.seen = ()
        if kind == EventKind.EXIT:
            self.live &= ~(mask & self.active)
        elif kind == EventKind.IF:
            second, self.active = self.active & ~mask, self.active & mask
            self.stack.append(_Branch(second, self.clock.without(self.active, now), self.live))
        elif kind == EventKind.ELSE:
            branch = self.stack[-1]
            self.clock, branch.clock = branch.clock, self.clock.without(branch.lanes, now)
            self.active, branch.lanes = branch.lanes, self.active
        else:
            self._meet(self.stack.pop(), now)

    def _meet(self, branch: _Branch, now: int) -> None:
        """Reconverge with the side that ran first, unless all lanes of one side have exited."""
        other = branch.clock
        both = self.active | branch.lanes
        if not self.active & self.live:
            self.clock, other = other, self.clock
        if self.active & self.live and branch.lanes & self.live:
            self.clock = self.clock.reconverge(other, branch.live & ~self.live, now)
        else:
            self.left = self.left.join(other.far)
        self.active = both

    @property
    def far(self) -> Iterator[Knowledge]:
        """Knowledge of all threads of the warp from releases."""
        yield self.left
        yield self.clock.far
        for branch in self.stack:
            yield branch.clock.far

    @property
    def absent(self) -> int:
        """Lanes that are live but not active: there must be none at a barrier."""
        return self.live & ~self.active

    def acquire(self, *released: Knowledge) -> None:
        """Join released knowledge into the active lanes' clock."""
        if len(self.seen) == len(released) and all(map(operator.is_, self.seen, released)):
            return
        self.seen = released
        for known in released:
            self.clock = self.clock.acquire(self.place, known)

    def pass_barrier(self, whole: Clock) -> None:
        """Continue after a barrier, including lanes that were absent (reported already).

        Parameters
        ----------
        whole : Clock
            Clock of a converged warp after the barrier.  Lanes that have exited are known to the
            end, so a warp without open branches counts as converged again.
        """
        self.left = NOTHING
        if not self.stack:
            self.clock = whole
            return
        self.clock = self.clock._replace(block_time=whole.block_time, far=whole.far)
        for branch in self.stack:
            branch.clock = branch.clock._replace(block_time=whole.block_time, far=whole.far)
