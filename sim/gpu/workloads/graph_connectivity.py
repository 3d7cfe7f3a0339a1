"""GCON: connected components of a random graph, by linking and path compression.

Ref: ScoRD (ISCA'20) Table II.
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
SWITCHED = (
    ("init", QueueError.NO_BARRIER_BEFORE_TAKE),
    ("link", QueueError.NO_BARRIER_BEFORE_TAKE),
    ("link", QueueError.BLOCK_SCOPE_STEAL),
    ("compress", QueueError.NO_BARRIER_BEFORE_TAKE),
    ("compress", QueueError.BLOCK_SCOPE_STEAL),
)


def smallest_of_component(vertices: int, edges: np.ndarray) -> np.ndarray:
    """For each vertex the smallest vertex of its component: minima propagate until none changes."""
    labels = np.arange(vertices, dtype=np.int32)
    while True:
        lowest = labels[edges].min(axis=1)
        new = labels.copy()
        np.minimum.at(new, edges[:, 0], lowest)
        np.minimum.at(new, edges[:, 1], lowest)
        new = new[new]
        if np.array_equal(new, labels):
            return labels
        labels = new


def _play(
    device: Device, size: GraphSize, random: np.random.Generator, switches: int
) -> WorkloadResult:
    kernels = load_kernels(__package__, "graph_connectivity")
    queues = WorkQueues(device, kernels, size, SWITCHED, switches)
    edges = rmat_edges(size.vertices, size.edges, random)
    parents = device.allocate(_WORD * size.vertices)
    queues.launch("init", size.vertices, [parents])
    queues.launch("link", size.edges, [parents, device.allocate(edges)])
    queues.launch("compress", size.vertices, [parents])
    found = device.read(parents, np.int32, size.vertices)
    return WorkloadResult(found, smallest_of_component(size.vertices, edges))


GRAPH_CONNECTIVITY = Workload(
    name="GCON",
    title="Graph connectivity",
    switches=queue_switches(SWITCHED),
    parameters={
        "tiny": GraphSize(blocks=4, threads=64, vertices=700, edges=1000),
        "small": GraphSize(blocks=15, threads=100, vertices=6000, edges=9000),
        "paper": GraphSize(blocks=15, threads=400, vertices=100_000, edges=150_000),
    },
    play=_play,
)
