"""1DC: convolution of one dimension, summed by atomics of either scope.

Ref: ScoRD (ISCA'20) Table II.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.launch.kernel_files import load_kernels
from racetrap.sim.gpu.workloads.base import Switch, Workload, WorkloadResult


@dataclass(frozen=True)
class _Size:
    blocks: int
    threads: int
    outputs: int
    taps: int = 9


def _play(
    device: Device, size: _Size, random: np.random.Generator, switches: int
) -> WorkloadResult:
    kernels = load_kernels(__package__, "convolution_1d")
    # Small integers: their sums are exact, whatever the order of the atomics.
    values = random.integers(-8, 8, size.outputs).astype(np.float32)
    weights = random.integers(-8, 8, size.taps).astype(np.float32)
    filled = device.allocate(values)
    taps = device.allocate(weights)
    output = device.allocate(values.nbytes)
    shape = size.blocks, size.threads
    device.launch(kernels, "clear", *shape, [output, size.outputs])
    device.launch(
        kernels, "convolve", *shape, [filled, taps, output, size.outputs, size.taps, switches]
    )
    # Tap f of output o takes input o - (f - taps // 2).
    middle = size.taps // 2
    expected = np.convolve(values, weights)[middle : middle + size.outputs]
    return WorkloadResult(device.read(output, np.float32, size.outputs), expected)


CONVOLUTION_1D = Workload(
    name="1DC",
    title="One-dimensional convolution",
    switches=(
        Switch("block-scope-border", "outputs that two blocks share are summed at block scope"),
    ),
    parameters={
        "tiny": _Size(blocks=4, threads=64, outputs=300),
        "small": _Size(blocks=15, threads=256, outputs=4000),
        "paper": _Size(blocks=15, threads=1024, outputs=1_000_000),
    },
    play=_play,
)
