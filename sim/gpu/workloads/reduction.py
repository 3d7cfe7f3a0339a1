"""RED: sum of an array by trees in the blocks, then by the block that ends last.

Ref: ScoRD (ISCA'20) Table II, Figure 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.launch.kernel_files import load_kernels
from racetrap.sim.gpu.workloads.base import Switch, Workload, WorkloadResult

_WORD = 4
#: Threads of a block: the tree of the kernel is made for them.
_THREADS = 512


@dataclass(frozen=True)
class _Size:
    blocks: int
    count: int


def _play(
    device: Device, size: _Size, random: np.random.Generator, switches: int
) -> WorkloadResult:
    kernels = load_kernels(__package__, "reduction")
    values = random.integers(0, 1 << 32, size.count, dtype=np.uint32)
    sums = device.allocate(_WORD * size.blocks)
    arguments = [
        device.allocate(values),
        sums,
        device.allocate(_WORD * size.blocks * _THREADS),  # tree
        device.allocate(_WORD * size.blocks * _THREADS),  # flags
        *(size.count, switches),
    ]
    device.launch(kernels, "reduce", size.blocks, _THREADS, arguments)
    expected = np.add.reduce(values, keepdims=True, dtype=np.uint32)
    return WorkloadResult(device.read(sums, np.uint32, 1), expected)


REDUCTION = Workload(
    name="RED",
    title="Reduction",
    switches=(
        Switch("no-flag-fence", "the last level of the tree raises its flags without a fence"),
        Switch(
            "block-scope-fence", "the sum of a block is fenced at block scope before its ticket"
        ),
    ),
    parameters={
        "tiny": _Size(blocks=4, count=5000),
        "small": _Size(blocks=30, count=60_000),
        "paper": _Size(blocks=30, count=25_600_000),
    },
    play=_play,
)
