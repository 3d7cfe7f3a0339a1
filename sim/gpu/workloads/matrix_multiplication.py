"""MM: matrix product, summed under locks of either scope.

Ref: ScoRD (ISCA'20) Table II.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from racetrap.golden_model.events import WARP_SIZE
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.launch.kernel_files import load_kernels
from racetrap.sim.gpu.workloads.base import Switch, Workload, WorkloadResult

_WORD = 4


@dataclass(frozen=True)
class _Size:
    blocks: int
    threads: int
    rows: int
    inner: int
    columns: int
    depth: int = 32  # products that a thread sums between two barriers


def _play(
    device: Device, size: _Size, random: np.random.Generator, switches: int
) -> WorkloadResult:
    kernels = load_kernels(__package__, "matrix_multiplication")
    # Small integers: their sums are exact, whatever the order of the critical sections.
    left = random.integers(-8, 8, (size.rows, size.inner)).astype(np.float32)
    right = random.integers(-8, 8, (size.inner, size.columns)).astype(np.float32)
    result = device.allocate(_WORD * size.rows * size.columns)
    arguments = [
        device.allocate(left),
        device.allocate(right),
        result,
        device.allocate(_WORD * size.blocks * WARP_SIZE),  # sums of the blocks
        device.allocate(_WORD * size.blocks * WARP_SIZE),  # their locks
        device.allocate(_WORD * size.threads),  # locks of the result
        *(size.rows, size.inner, size.columns, size.depth, switches),
    ]
    device.launch(kernels, "multiply", size.blocks, size.threads, arguments)
    found = device.read(result, np.float32, size.rows * size.columns)
    return WorkloadResult(found, (left @ right).ravel())


MATRIX_MULTIPLICATION = Workload(
    name="MM",
    title="Matrix multiplication",
    switches=(
        Switch("no-acquire-fence", "all warps but one take the block's lock without a fence"),
        Switch("no-release-fence", "the block's lock is released without a fence"),
        Switch("block-scope-lock", "the lock between blocks is taken by a CAS of block scope"),
        Switch("block-scope-fence", "the lock between blocks is taken with a fence of block scope"),
    ),
    parameters={
        "tiny": _Size(blocks=8, threads=64, rows=6, inner=16, columns=32, depth=4),
        "small": _Size(blocks=24, threads=128, rows=12, inner=60, columns=30, depth=8),
        "paper": _Size(blocks=120, threads=128, rows=800, inner=500, columns=30),
    },
    play=_play,
)
