"""GCON: connected components of a random graph, by linking and path compression.

Ref: ScoRD (ISCA'20) Table II.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.launch.kernel_files import load_kernels
from racetrap.sim.gpu.workloads.base import Switch, Workload, WorkloadResult
from racetrap.sim.gpu.workloads.rmat import rmat_edges
from racetrap.sim.gpu.workloads.work_queue import (
    BLOCK_SCOPE_STEAL,
    NO_BARRIER_BEFORE_TAKE,
    WorkQueues,
)

__all__ = ["GRAPH_CONNECTIVITY", "smallest_of_component"]

_WORD = 4


@dataclass(frozen=True)
class _Size:
    blocks: int
    threads: int
    vertices: int
    edges: int


#: Kernel, and what each race switch breaks in it, in the order of the workload's switches.
_BROKEN = (
    ("init", NO_BARRIER_BEFORE_TAKE),
    ("link", NO_BARRIER_BEFORE_TAKE),
    ("link", BLOCK_SCOPE_STEAL),
    ("compress", NO_BARRIER_BEFORE_TAKE),
    ("compress", BLOCK_SCOPE_STEAL),
)


def smallest_of_component(vertices: int, edges: np.ndarray) -> np.ndarray:
    """For each vertex the smallest vertex of its component: minima flow until none changes."""
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
    device: Device, size: _Size, random: np.random.Generator, switches: int
) -> WorkloadResult:
    kernels = load_kernels(__package__, "graph_connectivity")
    queues = WorkQueues(device, size.blocks, size.threads)
    edges = rmat_edges(size.vertices, size.edges, random)
    parents = device.allocate(_WORD * size.vertices)
    kernel_switches = {"init": 0, "link": 0, "compress": 0}
    for number, (kernel, broken) in enumerate(_BROKEN):
        if switches >> number & 1:
            kernel_switches[kernel] |= broken
    queues.launch(kernels, "init", size.vertices, [parents], kernel_switches["init"])
    arguments = [parents, device.allocate(edges)]
    queues.launch(kernels, "link", size.edges, arguments, kernel_switches["link"])
    queues.launch(kernels, "compress", size.vertices, [parents], kernel_switches["compress"])
    found = device.read(parents, np.int32, size.vertices)
    return WorkloadResult(found, smallest_of_component(size.vertices, edges))


GRAPH_CONNECTIVITY = Workload(
    name="GCON",
    title="Graph connectivity",
    switches=(
        Switch("init-no-barrier", "init: no barrier before the next chunk is taken"),
        Switch("link-no-barrier", "link: no barrier before the next chunk is taken"),
        Switch("link-block-scope-steal", "link: chunks are stolen by an add of block scope"),
        Switch("compress-no-barrier", "compress: no barrier before the next chunk is taken"),
        Switch(
            "compress-block-scope-steal", "compress: chunks are stolen by an add of block scope"
        ),
    ),
    parameters={
        "tiny": _Size(blocks=4, threads=64, vertices=700, edges=1000),
        "small": _Size(blocks=15, threads=100, vertices=6000, edges=9000),
        "paper": _Size(blocks=15, threads=400, vertices=100_000, edges=150_000),
    },
    play=_play,
)
