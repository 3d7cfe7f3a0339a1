"""Races by definition: every operation of every thread a node of a graph, order is a path.

No clocks: for each node the set of all nodes before it, as the bits of a number.  With the oracles
it shares the arrays of a kernel alone.
"""

from collections import defaultdict
from dataclasses import dataclass

from racetrap.golden_model.barracuda.kernel import Kernel
from racetrap.golden_model.barracuda.race import RaceClass, RaceKind
from racetrap.golden_model.events import EventKind, Space

#: What a race is known by: both PCs, kind, class, memory.
Key = tuple[frozenset[int], RaceKind, RaceClass, Space]


@dataclass(eq=False)
class Node:
    """An operation of one thread, or a meeting of several."""

    number: int
    row: int
    thread: tuple[int, int] | None  # warp and lane
    before: int  # all that the operation itself comes after
    past: int  # and what it acquires, before all that comes after the operation
    near_past: int  # without releases and acquires
    values: tuple[int, ...] = ()
    address: int = 0

    def follows(self, other: "Node", near: bool = False) -> bool:
        return bool((self.near_past if near else self.before) >> other.number & 1)


class Graph:
    """Happens-before graph of a kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.events = kernel.events
        self._count = 0
        self._last: dict[tuple[int, int], Node] = {}
        self._stack = [[int(mask)] for mask in kernel.live]
        self._exited = [0] * len(kernel.live)
        self.accesses: dict[int, list[Node]] = defaultdict(list)
        self.divergent_barriers: set[int] = set()
        self.pcs = self.events["pc"].tolist()

    def _node(self, row: int, threads: list[tuple[int, int]]) -> Node:
        past = near = 0
        for thread in threads:
            if thread in self._last:
                last = self._last[thread]
                past |= last.past | 1 << last.number
                near |= last.near_past | 1 << last.number
        node = Node(self._count, row, threads[0] if len(threads) == 1 else None, past, past, near)
        self._count += 1
        for thread in threads:
            self._last[thread] = node
        return node

    def _active(self, warp: int) -> list[tuple[int, int]]:
        mask = self._stack[warp][-1] & ~self._exited[warp]
        return [(warp, lane) for lane in range(32) if mask >> lane & 1]

    def run(self) -> None:
        for row, kind in enumerate(self.kernel.kind.tolist()):
            warp = int(self.kernel.warp[row])
            if kind <= EventKind.ATOMIC:
                self._access(row, warp)
            elif kind == EventKind.FENCE:
                for thread in self._active(warp):
                    if self.kernel.mask(row) >> thread[1] & 1:
                        self.fence(self._node(row, [thread]), row)
            elif kind == EventKind.BARRIER:
                self._barrier(row)
            elif EventKind.IF <= kind <= EventKind.EXIT:
                self._branch(kind, warp, self.kernel.mask(row))
            if warp >= 0 and kind != EventKind.EXIT:
                self._node(row, self._active(warp))

    def _branch(self, kind: int, warp: int, mask: int) -> None:
        stack = self._stack[warp]
        if kind == EventKind.EXIT:
            self._exited[warp] |= mask & stack[-1]
        elif kind == EventKind.IF:
            stack += [stack[-1] & ~mask, stack[-1] & mask]
        else:
            stack.pop()

    def _barrier(self, row: int) -> None:
        warps = self.kernel.warps_of(int(self.kernel.block[row]))
        members = []
        for warp in warps:
            live = int(self.kernel.live[warp])
            members += [(warp, lane) for lane in range(32) if live >> lane & 1]
            if live & ~self._exited[warp] & ~self._stack[warp][-1]:
                self.divergent_barriers.add(self.pcs[row])
        self._node(row, members)

    def _access(self, row: int, warp: int) -> None:
        lanes = [lane for lane in range(32) if self.kernel.mask(row) >> lane & 1]
        records = self.kernel.lanes[self.kernel.lane_slice(row)].tolist()
        for lane, (address, *values) in zip(lanes, records, strict=True):
            node = self._node(row, [(warp, lane)])
            node.values = tuple(values)
            node.address = self.kernel.space_base(row) + address
            if self.synchronise(node):
                for byte in range(int(self.events["size"][row])):
                    self.accesses[node.address + byte].append(node)

    def fence(self, node: Node, row: int) -> None:
        """A fence by one thread."""

    def synchronise(self, node: Node) -> bool:
        """Add the edges of an access; whether it takes part in races."""
        raise NotImplementedError

    def after(self, node: Node, other: Node) -> None:
        node.past |= other.past | 1 << other.number

    def kind_of(self, first: Node, second: Node) -> RaceKind | None:
        """Kind of race of two conflicting accesses of different instructions."""
        raise NotImplementedError

    def races(self) -> dict[Key, set[int]]:
        """All races with their bytes."""
        found: dict[Key, set[int]] = defaultdict(set)
        for byte, nodes in self.accesses.items():
            for index, second in enumerate(nodes):
                for first in self._meets(nodes, index):
                    kind = self._race(first, second)
                    if kind is not None:
                        found[self._key(first, second, kind)].add(byte)
        return found

    def writes(self, node: Node) -> bool:
        return self.kernel.kind[node.row] != EventKind.LOAD

    def _meets(self, nodes: list[Node], index: int) -> list[Node]:
        """The last write before an access and, if it writes, all reads between the two.

        Accesses of one instruction stand together: the write before them all counts for each.
        """
        met: list[Node] = []
        second = nodes[index]
        for first in reversed(nodes[:index]):
            write = self.writes(first)
            if write or self.writes(second):
                met.append(first)
            if write and first.row != second.row:
                break
        return met

    def _race(self, first: Node, second: Node) -> RaceKind | None:
        if first.row != second.row:
            return self.kind_of(first, second)
        stores = self.kernel.kind[first.row] == EventKind.STORE
        differ = first.thread != second.thread and first.values != second.values
        return RaceKind.SAME_INSTRUCTION if stores and differ else None

    def _key(self, first: Node, second: Node, kind: RaceKind) -> Key:
        assert first.thread is not None
        assert second.thread is not None
        one, other = first.thread[0], second.thread[0]
        blocks = self.kernel.warp_block[[one, other]]
        race_class = RaceClass.INTER_BLOCK
        if one == other:
            race_class = RaceClass.DIVERGENCE
        elif blocks[0] == blocks[1]:
            race_class = RaceClass.INTRA_BLOCK
        pcs = frozenset((self.pcs[first.row], self.pcs[second.row]))
        return pcs, kind, race_class, Space(self.events["space"][second.row])
