"""GCOL: colouring of a random graph, such that no two neighbours have one colour.

Ref: ScoRD (ISCA'20) Table II, Figure 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.launch.kernel_files import load_kernels
from racetrap.sim.gpu.workloads.base import Switch, Workload, WorkloadResult
from racetrap.sim.gpu.workloads.rmat import rmat_edges
from racetrap.sim.gpu.workloads.work_queue import (
    BLOCK_SCOPE_TAKE,
    NO_BARRIER_AFTER_TAKE,
    WorkQueues,
)

__all__ = ["GRAPH_COLORING"]

_WORD = 4
_KERNELS = ("assign", "detect", "forbid")
#: What the two race switches of each kernel break, in the order of the workload's switches.
_BROKEN = (BLOCK_SCOPE_TAKE, NO_BARRIER_AFTER_TAKE)
#: More rounds than a graph of ours needs; with switches on there may be no end.
_MOST_ROUNDS = 50


@dataclass(frozen=True)
class _Size:
    blocks: int
    threads: int
    vertices: int
    edges: int


class _Graph:
    """Buffers of one graph, and the launches over them."""

    def __init__(self, device: Device, size: _Size, edges: np.ndarray, switches: int) -> None:
        self._device, self._size = device, size
        self._kernels = load_kernels(__package__, "graph_coloring")
        self._queues = WorkQueues(device, size.blocks, size.threads)
        self._switches = {
            kernel: sum(
                broken
                for bit, broken in enumerate(_BROKEN, len(_BROKEN) * number)
                if switches >> bit & 1
            )
            for number, kernel in enumerate(_KERNELS)
        }
        self._edges = device.allocate(edges)
        self._complete = device.allocate(_WORD)
        vertex_words = [device.allocate(_WORD * size.vertices) for _ in range(4)]
        self.colors, self.sets, self._forbidden, self._tried = vertex_words

    def round(self) -> bool:
        """Let every vertex without a colour choose; whether all have one that does not clash."""
        size = self._size
        state = [self.colors, self.sets]
        self._device.write(self._complete, np.ones(1, dtype=np.int32))
        self._launch("assign", size.vertices, [*state, self._forbidden, self._tried])
        self._launch("detect", size.edges, [*state, self._edges, self._complete])
        self._launch("forbid", size.edges, [*state, self._forbidden, self._edges])
        return bool(self._device.read(self._complete, np.int32, 1)[0])

    def _launch(self, kernel: str, items: int, arguments: list[int]) -> None:
        self._queues.launch(self._kernels, kernel, items, arguments, self._switches[kernel])


def _play(
    device: Device, size: _Size, random: np.random.Generator, switches: int
) -> WorkloadResult:
    edges = rmat_edges(size.vertices, size.edges, random)
    graph = _Graph(device, size, edges, switches)
    for _ in range(_MOST_ROUNDS):
        if graph.round():
            break
    colors = device.read(graph.colors, np.uint32, size.vertices)
    sets = device.read(graph.sets, np.int32, size.vertices)
    clash = (colors[edges[:, 0]] == colors[edges[:, 1]]) & (sets[edges[:, 0]] == sets[edges[:, 1]])
    faults = np.concatenate([colors == 0, clash])
    return WorkloadResult(faults, np.zeros_like(faults))


GRAPH_COLORING = Workload(
    name="GCOL",
    title="Graph coloring",
    switches=tuple(
        switch
        for kernel in _KERNELS
        for switch in (
            Switch(
                f"{kernel}-block-scope-take",
                f"{kernel}: a block takes chunks of its queue by an add of block scope",
            ),
            Switch(f"{kernel}-no-barrier", f"{kernel}: no barrier after the next chunk is taken"),
        )
    ),
    parameters={
        "tiny": _Size(blocks=4, threads=64, vertices=500, edges=800),
        "small": _Size(blocks=15, threads=96, vertices=2500, edges=4000),
        "paper": _Size(blocks=15, threads=256, vertices=30_000, edges=50_000),
    },
    play=_play,
)
