"""Races of a trace by definition: the paper's, and that of the scope-aware extension.

With the oracles they share the inference of acquires and releases alone.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import product

from racetrap.golden_model.barracuda.kernel import Kernel, kernels_of
from racetrap.golden_model.barracuda.operations import infer_operations, neighbours
from racetrap.golden_model.barracuda.race import RaceKind
from racetrap.golden_model.events import AtomicOp, EventKind, Scope
from racetrap.golden_model.trace import Trace
from tests.support.threads.definition import Graph, Key, Node


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
                    writes = graph.writes(first) or graph.writes(second)
                    if writes and graph.kind_of(first, second) is not None:
                        found.add(byte)
    return found
