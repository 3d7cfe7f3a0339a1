"""The thesis' graph of memory operations, node by node, with searches for paths.

Nodes are ordered in program order as Section 3.2 says it, for every operation; Section 3.3 leaves
some of these arrows out, and would then report rule 6c at ``cached_read; sync; do_dma_write``.

Ref: Young (UBC 2020) Sections 3.2 and 3.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from racetrap.golden_model.trace.noncoherent.operations import (
    MemorySystem,
    Operation,
    OperationKind,
)

K = OperationKind


@dataclass(eq=False)
class Node:
    """A node; ``number`` is that of the operation that it comes from."""

    name: str
    number: int
    first: int = 0
    last: int = 0
    children: list[Node] = field(default_factory=list)

    def overlaps(self, other: Node) -> bool:
        return self.first <= other.last and self.last >= other.first

    def reaches(self, other: Node) -> bool:
        seen: set[int] = set()
        left = [self]
        while left:
            node = left.pop()
            if node is other:
                return True
            if id(node) not in seen:
                seen.add(id(node))
                left += node.children
        return False


class Graph:
    """The graph so far; ``races`` has the operation and the rule of every race."""

    def __init__(self, memory: MemorySystem) -> None:
        self._memory = memory
        self._before: list[Node] = []  # what the next operation of the CPU comes after
        self._writebacks: list[Node] = []
        self._allocs: list[Node] = []
        self._flushes: list[Node] = []  # since whose lines no cached operation came
        self._last_dma: Node | None = None
        self._chain: list[Node] = []
        self.races: set[tuple[int, str]] = set()

    def run(self, operations: Iterable[Operation]) -> set[tuple[int, str]]:
        for number, operation in enumerate(operations):
            self.step(number, operation)
        return self.races

    def step(self, number: int, operation: Operation) -> None:
        first, last = operation.ranges[0] if operation.size else (0, (1 << 64) - 1)
        node = Node(K(operation.kind).name, number, first, last)
        for before in self._before:
            before.children.append(node)
        self._before = [node]
        {
            K.UNCACHED_READ: self._uncached_read,
            K.UNCACHED_WRITE: self._uncached_write,
            K.CACHED_READ: self._cached_read,
            K.CACHED_WRITE: self._cached_write,
            K.DMA_READ: self._dma_read,
            K.DMA_WRITE: self._dma_write,
            K.SYNC: self._sync,
            K.SYNC_ALL: self._sync,
            K.CACHE_FLUSH: self._flush,
        }[operation.kind](node)

    def _check(self, rule: str, node: Node, others: Iterable[Node]) -> None:
        for other in others:
            if other.overlaps(node) and not (other.reaches(node) or node.reaches(other)):
                self.races.add((node.number, rule))

    def _dangling(self, node: Node) -> list[Node]:
        return [one for one in self._writebacks if not one.children and one.overlaps(node)]

    def _writes(self) -> list[Node]:
        return [one for one in self._chain if one.name == "dma_w"]

    def _bloated(self, name: str, node: Node, unit: int) -> Node:
        return Node(name, node.number, node.first & -unit, node.last | (unit - 1))

    def _uncached_read(self, node: Node) -> None:
        self._check("1b", node, self._dangling(node))
        self._check("1c", node, self._writes())

    def _uncached_write(self, node: Node) -> None:
        self._check("2b", node, self._dangling(node))
        self._check("2c", node, self._chain)

    def _cached_read(self, node: Node) -> None:
        cr = Node("cr", node.number, node.first, node.last)
        node.children.append(cr)
        self._before.append(cr)
        alloc = self._bloated("alloc", node, self._memory.line_bytes)
        alloc.children.append(cr)
        dangling = self._dangling(alloc)
        if any(flush.overlaps(alloc) for flush in self._flushes):  # 3f
            cr.children.append(alloc)
        elif dangling:  # 3g and 3h
            for old in dangling:
                old.children.append(alloc)
                again = Node("wb", old.number, old.first, old.last)
                cr.children.append(again)
                self._writebacks.append(again)
        else:  # 3i
            for old in self._allocs:
                if old.overlaps(alloc):
                    old.children.append(alloc)
        self._check("3j", alloc, self._writes())
        self._allocs.append(alloc)
        self._used(alloc)

    def _cached_write(self, node: Node) -> None:
        cw = Node("cw", node.number, node.first, node.last)
        node.children.append(cw)
        self._before.append(cw)
        wb = self._bloated("wb", node, self._memory.granule_bytes)
        for old in self._dangling(wb):  # 4f
            old.children.append(wb)
        cw.children.append(wb)
        self._writebacks.append(wb)
        self._check("4g", wb, self._chain)
        self._used(wb)

    def _used(self, node: Node) -> None:
        self._flushes = [flush for flush in self._flushes if not flush.overlaps(node)]

    def _issue(self, name: str, node: Node) -> Node:
        dma = Node(name, node.number, node.first, node.last)
        node.children.append(dma)
        if self._last_dma is not None:
            self._last_dma.children.append(dma)
        self._last_dma = dma
        return dma

    def _dma_read(self, node: Node) -> None:
        dma = self._issue("dma_r", node)
        self._check("5b", dma, self._dangling(dma))
        self._chain.append(dma)

    def _dma_write(self, node: Node) -> None:
        dma = self._issue("dma_w", node)
        self._check("6b", dma, self._dangling(dma))
        self._check("6c", dma, self._allocs)
        self._chain.append(dma)

    def _sync(self, node: Node) -> None:
        if self._last_dma is not None:
            self._last_dma.children.append(node)
        self._chain = []

    def _flush(self, node: Node) -> None:
        flush = self._bloated("flush", node, self._memory.line_bytes)
        node.first, node.last = flush.first, flush.last
        for old in self._dangling(node):
            old.children.append(node)
        self._flushes.append(node)
