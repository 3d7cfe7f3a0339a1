"""Plain vector clocks: the rules of the paper's Figures 2 and 3 on clocks, one entry a thread.

For small traces only: quadratic in the number of threads.  The compressed clocks of
``compressed.py`` must give every answer that these give.

Ref: BARRACUDA (PLDI'17) Section 3.3.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

import numpy as np

from racetrap.golden_model.barracuda.kernel import Kernel
from racetrap.golden_model.events import WARP_SIZE, EventKind, lanes_of


class VectorClocks:
    """The paper's C and K: a vector clock for each thread, a SIMT stack for each warp.

    Threads have the numbers ``warp * WARP_SIZE + lane``.  A thread that has exited takes no
    part in its warp any more, but is there at every barrier: the barrier does not wait for it,
    and all that it did lies behind.

    Parameters
    ----------
    kernel : Kernel
        Kernel whose threads they are.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        warps = len(kernel.warp_block)
        self.clock = np.eye(warps * WARP_SIZE, dtype=np.int64)
        self._stack = [[int(mask)] for mask in kernel.live]
        self._exited = [0] * warps

    def active(self, warp: int) -> list[int]:
        """Threads of a warp that run now."""
        mask = self._stack[warp][-1] & ~self._exited[warp]
        return [warp * WARP_SIZE + lane for lane in lanes_of(mask)]

    def _join(self, threads: Sequence[int]) -> None:
        """Join and fork of a set of threads."""
        if len(threads):
            self.clock[threads] = self.clock[threads].max(axis=0)
            self.clock[threads, threads] += 1

    def end_instruction(self, warp: int) -> None:
        """Rule ENDINSN."""
        self._join(self.active(warp))

    def branch(self, kind: EventKind, warp: int, mask: int) -> None:
        """Rules IF and ELSEENDIF, and the exit of lanes."""
        stack = self._stack[warp]
        if kind == EventKind.EXIT:
            self._exited[warp] |= mask & stack[-1]
            return
        if kind == EventKind.IF:
            stack += [stack[-1] & ~mask, stack[-1] & mask]
        else:
            stack.pop()
        self._join(self.active(warp))

    def barrier(self, block: int) -> int | None:
        """Rule BAR; the first thread that is not there, if any."""
        missing = None
        members: list[int] = []
        for warp in self._kernel.warps_of(block):
            live = int(self._kernel.live[warp])
            members += [warp * WARP_SIZE + lane for lane in lanes_of(live)]
            absent = live & ~self._stack[warp][-1] & ~self._exited[warp]
            if absent and missing is None:
                missing = self._kernel.thread(warp, lanes_of(absent)[0])
        self._join(members)
        return missing

    def acquire(self, thread: int, clock: np.ndarray) -> None:
        """Join a thread's clock with one that was released."""
        np.maximum(self.clock[thread], clock, out=self.clock[thread])

    def epoch(self, thread: int) -> int:
        """A thread's own time."""
        return int(self.clock[thread, thread])

    def knows(self, thread: int, other: int, time: int) -> bool:
        """Whether the epoch ``time @ other`` is in a thread's past."""
        return bool(self.clock[thread, other] >= time)


class SyncClocks:
    """The paper's S: for each location what was released for one block, and for all.

    A release adds to what was released before, as the definition of synchronization order
    (Section 3.2) has it; by the letter of Fig. 3 it would take its place.
    """

    def __init__(self, threads: int) -> None:
        nothing = np.zeros(threads, dtype=np.int64)
        self._for_all: dict[Hashable, np.ndarray] = defaultdict(lambda: nothing)
        self._for_block: dict[Hashable, dict[int, np.ndarray]] = defaultdict(
            lambda: defaultdict(lambda: nothing)
        )

    def release(self, location: Hashable, clock: np.ndarray, block: int | None) -> None:
        """Release to one block, or to all (``None``)."""
        if block is None:
            self._for_all[location] = np.maximum(self._for_all[location], clock)
        else:
            blocks = self._for_block[location]
            blocks[block] = np.maximum(blocks[block], clock)

    def for_all(self, location: Hashable) -> np.ndarray:
        """What was released to all blocks."""
        return self._for_all[location]

    def for_block(self, location: Hashable, block: int) -> np.ndarray:
        """What was released to one block alone."""
        return self._for_block[location][block]

    def anywhere(self, location: Hashable) -> np.ndarray:
        """What was released to any block, or to all."""
        blocks = self._for_block[location].values()
        return np.maximum.reduce([self._for_all[location], *blocks])
