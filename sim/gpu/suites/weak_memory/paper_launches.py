"""Launches of the paper's seven programs, and their results by NumPy.

Each function takes the beginning of the kernels' names and the shape of the launch.

Ref: Bugaroo Table I.
"""

from __future__ import annotations

import numpy as np

from racetrap.sim.gpu.suites.weak_memory.launch_tables import (
    LaunchTables,
    buffer,
    named,
    number,
    pointer,
    result,
    scattered,
)

#: Input elements of a thread.
_ELEMENTS = 2


def dot_product(kernel: str, blocks: int, threads: int) -> LaunchTables:
    """Square of the vector 0, 1, 2, ..."""
    count = _ELEMENTS * blocks * threads
    vector = np.arange(count, dtype=np.uint32)
    total = np.dot(vector, vector)
    arguments = [
        buffer("arange", count), buffer("arange", count), result(total), buffer("zeros", 1),
        number(count),
    ]  # fmt: skip
    return {"kernel": kernel, "grid": blocks, "block": threads, "arguments": arguments}


#: Constants of ``octree.cu``.
_LEVELS, _LEAF, _CAPACITY = 2, 4, 128


def octree(kernel: str, blocks: int, threads: int) -> LaunchTables:
    """Leaf of each particle: one particle a thread of a block."""
    path = scattered(np.arange(threads)) >> (32 - 3 * _LEVELS)
    leaves = np.zeros(threads, np.uint32)
    for level in range(_LEVELS, -1, -1):
        cells = path >> (3 * (_LEVELS - level))
        inside = np.bincount(cells, minlength=8**level)[cells]
        is_leaf = inside <= _LEAF if level < _LEVELS else True
        leaves = np.where(is_leaf, (level + 1) << 16 | cells, leaves)
    arguments = [
        buffer("arange", 2 * threads), result(leaves),
        buffer("zeros", blocks * _CAPACITY), buffer("zeros", blocks), buffer("zeros", blocks),
        buffer("zeros", 1), number(threads),
    ]  # fmt: skip
    return {"kernel": kernel, "grid": blocks, "block": threads, "arguments": arguments}


def reduction(kernel: str, blocks: int, threads: int) -> LaunchTables:
    """Sum of 0, 1, 2, ..."""
    count = _ELEMENTS * blocks * threads
    arguments = [
        buffer("arange", count), buffer("zeros", blocks), result(np.arange(count).sum()),
        buffer("zeros", 1), number(count),
    ]  # fmt: skip
    return {"kernel": kernel, "grid": blocks, "block": threads, "arguments": arguments}


def scan(kernel: str, blocks: int, threads: int) -> LaunchTables:
    """Prefix sums of 0, 1, 2, ..., and the same from the last to the first."""
    sums = np.cumsum(np.arange(blocks * threads))
    arguments = [
        buffer("arange", sums.size), result(sums), result(sums[::-1]),
        *(buffer("zeros", blocks) for _ in range(4)),
    ]  # fmt: skip
    return {"kernel": kernel, "grid": blocks, "block": threads, "arguments": arguments}


def _points(count: int) -> np.ndarray:
    """Coordinates of points, x and y."""
    bits = scattered(np.arange(count))
    return np.stack((bits >> 24, bits >> 16 & 0xFF), axis=1).astype(np.int64)


_ITERATIONS = 3


def _means(points: np.ndarray, membership: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Mean of each cluster's points, rounded down; a cluster without points keeps its centre."""
    means = centres.copy()
    for cluster in np.unique(membership):
        own = points[membership == cluster]
        means[cluster] = own.sum(axis=0) // len(own)
    return means


def kmeans(kernel: str, blocks: int, threads: int) -> LaunchTables:
    """Three iterations; as many clusters as blocks."""
    points = _points(blocks * threads)
    membership = np.arange(len(points)) % blocks
    centres = _means(points, membership, np.zeros((blocks, 2), np.int64))
    for _ in range(_ITERATIONS):
        apart = points[:, None] - centres[None]
        membership = (apart**2).sum(axis=2).argmin(axis=1)
        centres = _means(points, membership, centres)
    shape = {"grid": blocks, "block": threads}
    update = {
        "kernel": f"{kernel}_update", **shape,
        "arguments": [
            pointer("membership"), pointer("centres"), pointer("partial"), number(len(points)),
        ],
    }  # fmt: skip
    assign = {
        "kernel": f"{kernel}_assign", **shape,
        "arguments": [pointer("centres"), pointer("membership"), number(blocks)],
    }  # fmt: skip
    buffers = [
        named("membership", {
            **buffer("arange", len(points)), "expected": membership.tolist(),
        }),
        named("centres", result(centres)),
        named("partial", buffer("zeros", 3 * len(points))),
    ]  # fmt: skip
    return {**update, "next": [assign, update] * _ITERATIONS, "buffers": buffers}


#: Points that may become a centre, one after the other, and what one more centre costs.
_CANDIDATES, _COST = (7, 19, 40), 30_000


def stream_clustering(kernel: str, blocks: int, threads: int) -> LaunchTables:
    """Centre of each point, all of them the first point's at the beginning."""
    points = _points(blocks * threads)
    centre = np.zeros(len(points), np.int64)
    launches = []
    for candidate in _CANDIDATES:
        costs = ((points - points[centre]) ** 2).sum(axis=1)
        gain = costs - ((points - points[candidate]) ** 2).sum(axis=1)
        if np.maximum(gain, 0).sum() > _COST:
            centre = np.where(gain > 0, candidate, centre)
        launches += [
            {
                "kernel": f"{kernel}_gain", "grid": blocks, "block": threads,
                "arguments": [pointer("centre"), pointer("gain"), number(candidate)],
            },
            {
                "kernel": f"{kernel}_decide", "grid": 1, "block": threads,
                "arguments": [
                    pointer("centre"), pointer("gain"), number(candidate), number(_COST),
                    number(len(points)),
                ],
            },
        ]  # fmt: skip
    buffers = [
        named("centre", result(centre)), named("gain", buffer("zeros", len(points)))
    ]  # fmt: skip
    return {**launches[0], "next": launches[1:], "buffers": buffers}


#: Constants of ``hotspot.cu``.
_SIDE, _STEPS = 8, 2
_INNER = _SIDE - 2 * _STEPS


def hotspot(kernel: str, blocks: int, threads: int) -> LaunchTables:
    """Temperatures after two launches; a block always has 64 threads."""
    del threads
    rows, columns = 2 * _INNER, -(-blocks // 2) * _INNER
    first = np.arange(rows * columns).reshape(rows, columns)
    cells = first
    for _ in range(2 * _STEPS):
        around = np.pad(cells, 1, mode="edge")
        sides = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
        flow = sides - 4 * cells
        cells = cells + first + np.where(flow < 0, -(-flow // 8), flow // 8)
    tables = [
        {
            "kernel": kernel, "grid": [columns // _INNER, 2], "block": [_SIDE, _SIDE],
            "arguments": [pointer(before), pointer("power"), pointer(after)],
        }
        for before, after in (("cells", "other"), ("other", "cells"))
    ]  # fmt: skip
    buffers = [
        named("cells", {**buffer("arange", first.size), "expected": cells.ravel().tolist()}),
        named("power", buffer("arange", first.size)),
        named("other", buffer("zeros", first.size)),
    ]
    return {**tables[0], "next": tables[1:], "buffers": buffers}
