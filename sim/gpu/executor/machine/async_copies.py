"""Asynchronous copies of a warp's lanes: what they have begun, and what must be complete.

A copy is made when its lane waits for it, or ends: as late as PTX allows.  As it may be made at any
time since it was begun, its accesses are logged once in each stretch between two synchronisations
of the warp: whatever is unordered with the copy is so with one of them.

Ref: PTX ISA 9.0, Section 9.7.9.25.3 (cp.async).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racetrap.golden_model.events import WARP_SIZE, EventKind, lanes_of
from racetrap.sim.gpu.executor.machine.access import Access, Load, Store
from racetrap.sim.gpu.executor.machine.errors import Fault, KernelFault
from racetrap.sim.gpu.executor.machine.faults import thread_name
from racetrap.sim.gpu.executor.machine.lane_moves import ADDRESS
from racetrap.sim.gpu.executor.machine.lanes import mask_of, row_of

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.warp import Warp


class AsyncCopy:
    """A ``cp.async`` instruction, called with the rows of addresses and of bytes to copy.

    Parameters
    ----------
    loads : dict of int to Load
        By number of words that are read, the load of them.
    store : Store
        Store of all words.
    """

    def __init__(self, loads: dict[int, Load], store: Store):
        self.loads, self.store = loads, store
        self.words = store.size // store.dtype.itemsize

    def __call__(
        self, warp: Warp, mask: int, target: np.ndarray, source: np.ndarray, size: np.ndarray
    ) -> None:
        if (size[row_of(mask)] % self.store.dtype.itemsize).any():
            sentence = f"Bytes of {self.store.instruction.name} must be a multiple of 4"
            raise warp.trapped(self.store.place, sentence, mask)
        words = np.minimum(size, self.store.size) // self.store.dtype.itemsize
        warp.polls.changed = True
        warp.copies.open.append(_Copy(self, mask, target.copy(), source.copy(), words))
        warp.copies.pending |= mask


class _Copy:
    """A copy that lanes have begun."""

    def __init__(
        self, instruction: AsyncCopy, mask: int, target: np.ndarray, source: np.ndarray,
        words: np.ndarray,
    ):  # fmt: skip
        self.instruction, self.mask = instruction, mask
        self.target, self.source, self.words = target, source, words

    def make(self, warp: Warp, lanes: int) -> None:
        """Copy for some lanes."""
        lanes &= self.mask
        self.mask &= ~lanes
        if not lanes:
            return
        rows = [np.zeros(WARP_SIZE, np.uint32) for _ in range(self.instruction.words)]
        for words, part in self._parts(lanes):
            if words:
                self.instruction.loads[words](warp, part, self.source, *rows[:words])
        self.instruction.store(warp, lanes, self.target, *rows)

    def show(self, warp: Warp) -> None:
        """Log the accesses of active lanes as if they were made now."""
        lanes = self.mask & warp.mask
        if not lanes:
            return
        for words, part in self._parts(lanes):
            if words:
                load = self.instruction.loads[words]
                load.log(warp, part, load.addresses(part, self.source))
        store = self.instruction.store
        address = store.addresses(lanes, self.target)
        values = (np.zeros(len(address), np.uint32),) * self.instruction.words
        store.log_values(warp, lanes, address, values)

    def _parts(self, lanes: int) -> list[tuple[int, int]]:
        """Lanes by the words that they read."""
        return [
            (words, mask_of(self.words == words) & lanes)
            for words in np.unique(self.words[row_of(lanes)]).tolist()
        ]

    def touches(self, access: Access, mask: int, address: np.ndarray) -> int:
        """Lanes that access what their own copy may still read or write."""
        store = self.instruction.store
        shared = access.space_code == store.space_code
        if not shared and access.kind is EventKind.LOAD:
            return 0
        row = np.full(WARP_SIZE, -1 << 40)
        row[row_of(mask)] = address
        first = self.target if shared else self.source
        offset = store.offsets[ADDRESS] if shared else 0
        near = (row < first + offset + store.size) & (row + access.size > first + offset)
        return mask_of(near) & self.mask & mask


class AsyncCopies:
    """Copies that a warp's lanes have begun and that are not complete."""

    def __init__(self) -> None:
        #: Lanes with any.
        self.pending = 0
        #: Those of no group yet.
        self.open: list[_Copy] = []
        self._groups: list[tuple[int, list[_Copy]]] = []

    def commit(self, mask: int) -> None:
        """The open copies of lanes become a group of each lane."""
        group = []
        for copy in self.open:
            if lanes := copy.mask & mask:
                group.append(_Copy(copy.instruction, lanes, copy.target, copy.source, copy.words))
                copy.mask &= ~lanes
        self.open = [copy for copy in self.open if copy.mask]
        self._groups.append((mask, group))

    def wait(self, warp: Warp, mask: int, most: int) -> None:
        """Lanes wait until they have at most so many groups; without one each."""
        later = dict.fromkeys(lanes_of(mask), 0)
        due: list[tuple[int, list[_Copy]]] = []
        kept: list[tuple[int, list[_Copy]]] = []
        for members, group in reversed(self._groups):
            lanes = 0
            for lane in lanes_of(members & mask):
                later[lane] += 1
                lanes |= (later[lane] > most) << lane
            if lanes:
                due.append((lanes, group))
            if members & ~lanes:
                kept.append((members & ~lanes, group))
        for lanes, group in reversed(due):
            for copy in group:
                copy.make(warp, lanes)
        self._groups = kept[::-1]
        self._count()

    def complete(self, warp: Warp, mask: int) -> None:
        """All copies of lanes are made."""
        if self.pending & mask:
            self.commit(mask)
            self.wait(warp, mask, 0)

    def show(self, warp: Warp) -> None:
        """The warp synchronises: what is pending may have been made before."""
        if pending := self.pending:
            # These accesses are those of the copies themselves.
            self.pending = 0
            for copy in self._all():
                copy.show(warp)
            self.pending = pending

    def check(self, warp: Warp, access: Access, mask: int, address: np.ndarray) -> None:
        """Refuse an access by a lane to what its own copy may still read or write.

        Raises
        ------
        KernelFault
            If there is one.
        """
        for copy in self._all():
            if lanes := copy.touches(access, mask, address):
                raise KernelFault(
                    Fault.TRAP,
                    f"{access.place}: {access.instruction.name} races with the thread's own "
                    f"cp.async at {copy.instruction.store.place}: wait for the copy first "
                    f"({thread_name(warp, lanes_of(lanes)[0])})",
                )

    def _all(self) -> list[_Copy]:
        return [*(copy for _, group in self._groups for copy in group), *self.open]

    def _count(self) -> None:
        self.pending = 0
        for copy in self._all():
            self.pending |= copy.mask
