"""GCOL: colouring of a random graph, such that no two neighbours have one colour.

Ref: ScoRD (ISCA'20) Table II, Figure 3.
"""

from __future__ import annotations

import numpy as np

from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.launch.kernel_files import load_kernels
from racetrap.sim.gpu.workloads.base import Workload, WorkloadResult
from racetrap.sim.gpu.workloads.rmat import rmat_edges
from racetrap.sim.gpu.workloads.work_queue import (
    GraphSize,
    QueueError,
    WorkQueues,
    queue_switches,
)

_WORD = 4
#: Kernel and error of each race switch.
SWITCHED = tuple(
    (kernel, error)
    for kernel in ("assign", "detect", "forbid")
    for error in (QueueError.BLOCK_SCOPE_TAKE, QueueError.NO_BARRIER_AFTER_TAKE)
)
#: More rounds than any of our graphs needs; with switches on there may be no end.
_MOST_ROUNDS = 50


class _Graph:
    """Buffers of one graph, and the launches over them."""

    def __init__(self, device: Device, size: GraphSize, edges: np.ndarray, switches: int) -> None:
        self._device, self._size = device, size
        kernels = load_kernels(__package__, "graph_coloring")
        self._queues = WorkQueues(device, kernels, size, SWITCHED, switches)
        self._edges = device.allocate(edges)
        self._complete = device.allocate(_WORD)
        vertex_words = [device.allocate(_WORD * size.vertices) for _ in range(4)]
        self.colors, self.sets, self._forbidden, self._tried = vertex_words

    def round(self) -> bool:
        """Let every vertex without a colour choose; whether all have one that does not clash."""
        size = self._size
        state = [self.colors, self.sets]
        self._device.write(self._complete, np.ones(1, dtype=np.int32))
        launch = self._queues.launch
        launch("assign", size.vertices, [*state, self._forbidden, self._tried])
        launch("detect", size.edges, [*state, self._edges, self._complete])
        launch("forbid", size.edges, [*state, self._forbidden, self._edges])
        return bool(self._device.read(self._complete, np.int32, 1)[0])


def _play(
    device: Device, size: GraphSize, random: np.random.Generator, switches: int
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
    switches=queue_switches(SWITCHED),
    parameters={
        "tiny": GraphSize(blocks=4, threads=64, vertices=500, edges=800),
        "small": GraphSize(blocks=15, threads=96, vertices=2500, edges=4000),
        "paper": GraphSize(blocks=15, threads=256, vertices=30_000, edges=50_000),
    },
    play=_play,
)
