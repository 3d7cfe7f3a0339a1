"""Races by definition: every operation of every thread a node of a graph, order is a path.

No clocks, no sharing with the oracles but the inference of acquires and releases: for each node
the set of all nodes before it, as the bits of a number.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import product

from racetrap.golden_model.barracuda.kernel import Kernel, kernels_of
from racetrap.golden_model.barracuda.operations import infer_operations, neighbours
from racetrap.golden_model.barracuda.race import RaceClass, RaceKind
from racetrap.golden_model.events import EventKind, Space
from racetrap.golden_model.scord.packets import AtomicOp, Scope
from racetrap.golden_model.trace import Trace

#: What a race is known by: both PCs, kind, class, memory.
Key = tuple[frozenset[int], RaceKind, RaceClass, Space]
_IF, _ELSE, _FI = EventKind.IF, EventKind.ELSE, EventKind.FI


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


@dataclass
class _Fence:
    node: Node
    scope: int


@dataclass
class _Release:
    """A strong write and the fences of its thread before it."""

    block: int
    scope: int
    fences: list[_Fence] = field(default_factory=list)


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

    def _writes(self, node: Node) -> bool:
        return self.kernel.kind[node.row] != EventKind.LOAD

    def _meets(self, nodes: list[Node], index: int) -> list[Node]:
        """The last write before an access and, if it writes, all reads between the two.

        Accesses of one instruction stand together: the write before them all counts for each.
        """
        met: list[Node] = []
        second = nodes[index]
        for first in reversed(nodes[:index]):
            write = self._writes(first)
            if write or self._writes(second):
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


class BarracudaGraph(Graph):
    """Synchronization order of the paper's Section 3.2."""

    def __init__(self, kernel: Kernel, operations) -> None:
        super().__init__(kernel)
        self._operations = operations
        self._releases: dict[int, list[tuple[Node, int, bool]]] = defaultdict(list)

    def synchronise(self, node: Node) -> bool:
        acquire = int(self._operations.acquire[node.row])
        release = int(self._operations.release[node.row])
        block = int(self.kernel.block[node.row])
        if acquire:
            for other, other_block, glob in self._releases[node.address]:
                if other_block == block or glob or acquire == 2:
                    self.after(node, other)
        if release:
            self._releases[node.address].append((node, block, release == 2))
        return not acquire and not release

    def kind_of(self, first: Node, second: Node) -> RaceKind | None:
        kind = self.kernel.kind
        if kind[first.row] == kind[second.row] == EventKind.ATOMIC:
            return None
        return None if second.follows(first) else RaceKind.UNORDERED


class ScopedGraph(Graph):
    """The scope-aware extension."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self._named = neighbours(kernel).named
        self._fences: dict[tuple[int, int], list[_Fence]] = defaultdict(list)
        self._releases: dict[int, list[_Release]] = defaultdict(list)
        #: Locks taken by a thread: block, scope, and releases that it can acquire.
        self._locks: dict[tuple[int, int], list[tuple[int, int, list[_Release]]]] = defaultdict(
            list
        )

    def _join(self, node: Node, block: int, scope: int, releases: list[_Release]) -> None:
        for release in releases:
            for fence in release.fences:
                device = min(fence.scope, release.scope, scope) == Scope.DEVICE
                if release.block == block or device:
                    self.after(node, fence.node)

    def fence(self, node: Node, row: int) -> None:
        assert node.thread is not None
        scope = int(self.events["scope"][row])
        for block, taken, releases in self._locks[node.thread]:
            self._join(node, block, min(taken, scope), releases)
        self._fences[node.thread].append(_Fence(node, scope))

    def synchronise(self, node: Node) -> bool:
        event = self.events[node.row]
        assert node.thread is not None
        cas = event["kind"] == EventKind.ATOMIC and event["op"] == AtomicOp.CAS
        failed = cas and not int(event["success_mask"]) >> node.thread[1] & 1
        if not event["strong"] or failed:
            return True
        block, scope = int(self.kernel.block[node.row]), int(event["scope"])
        releases = self._releases[node.address]
        if cas and node.values == (1, 0):
            self._locks[node.thread].append((block, scope, list(releases)))
        elif event["kind"] != EventKind.STORE:
            self._join(node, block, scope, releases)
        if event["kind"] != EventKind.LOAD:
            releases.append(_Release(block, scope, list(self._fences[node.thread])))
        return True

    def kind_of(self, first: Node, second: Node) -> RaceKind | None:
        events, kernel = self.events, self.kernel
        atomic = all(
            kernel.kind[node.row] == EventKind.ATOMIC or self._named[node.row]
            for node in (first, second)
        )
        scopes = [int(events["scope"][node.row]) for node in (first, second)]
        if atomic and (kernel.block[first.row] == kernel.block[second.row] or min(scopes)):
            return None
        if second.follows(first, near=True):
            return None
        if second.follows(first):
            strong = events["strong"][first.row] and events["strong"][second.row]
            return None if strong else RaceKind.NOT_STRONG
        return RaceKind.SCOPED_ATOMIC if atomic else RaceKind.UNORDERED


def _gather(graphs: list[Graph]) -> tuple[dict[Key, set[int]], set[int]]:
    races: dict[Key, set[int]] = defaultdict(set)
    barriers: set[int] = set()
    for graph in graphs:
        graph.run()
        for key, places in graph.races().items():
            races[key] |= places
        barriers |= graph.divergent_barriers
    return races, barriers


def barracuda_by_definition(trace: Trace) -> tuple[dict[Key, set[int]], set[int]]:
    """Races with their bytes, and PCs of divergent barriers, by the paper's definition."""
    kernels = list(kernels_of(trace))
    pairs = zip(kernels, infer_operations(kernels), strict=True)
    return _gather([BarracudaGraph(kernel, operations) for kernel, operations in pairs])


def scoped_by_definition(trace: Trace) -> tuple[dict[Key, set[int]], set[int]]:
    """The same by the scope-aware extension."""
    return _gather([ScopedGraph(kernel) for kernel in kernels_of(trace)])


def conflicting_everywhere(trace: Trace) -> set[int]:
    """Bytes at which any two accesses race by the letter of Section 3.2, however far apart."""
    found: set[int] = set()
    kernels = list(kernels_of(trace))
    for kernel, operations in zip(kernels, infer_operations(kernels), strict=True):
        graph = BarracudaGraph(kernel, operations)
        graph.run()
        for byte, nodes in graph.accesses.items():
            for first, second in product(nodes, nodes):
                if first.number < second.number and first.row != second.row:
                    writes = graph._writes(first) or graph._writes(second)
                    if writes and graph.kind_of(first, second) is not None:
                        found.add(byte)
    return found
