"""R110: the cellular automaton of rule 110, threads waiting for their neighbours.

Ref: ScoRD (ISCA'20) Table II.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.launch.kernel_files import load_kernels
from racetrap.sim.gpu.workloads.base import Switch, Workload, WorkloadResult, check_resident

_WORD = 4
#: Next state of a cell by the states of its left neighbour, itself and its right one.
_RULE = np.array([0, 1, 1, 1, 0, 1, 1, 0], dtype=np.int32)


@dataclass(frozen=True)
class _Size:
    blocks: int
    threads: int
    cells: int
    steps: int


def next_cells(cells: np.ndarray) -> np.ndarray:
    """One step; beyond the ends all cells are 0."""
    padded = np.pad(cells, 1)
    return _RULE[padded[:-2] << 2 | padded[1:-1] << 1 | padded[2:]]


def _play(
    device: Device, size: _Size, random: np.random.Generator, switches: int
) -> WorkloadResult:
    check_resident(device, size.blocks, size.threads)
    kernels = load_kernels(__package__, "rule_110")
    expected = random.integers(0, 2, size.cells, dtype=np.int32)
    cells = device.allocate(expected)
    copy = device.allocate(expected.nbytes)
    flags = device.allocate(_WORD * size.blocks * size.threads)
    for step in range(1, size.steps + 1):
        arguments = [cells, copy, flags, size.cells, step, switches]
        device.launch(kernels, "advance", size.blocks, size.threads, arguments)
        expected = next_cells(expected)
    return WorkloadResult(device.read(cells, np.int32, size.cells), expected)


RULE_110 = Workload(
    name="R110",
    title="Rule 110 cellular automaton",
    switches=(
        Switch("block-scope-fence", "border threads fence at block scope before their flag"),
        Switch("block-scope-wait", "border threads wait at block scope for the right neighbour"),
    ),
    parameters={
        # The last block has no cell and so waits for the first before that has raised its flags.
        "tiny": _Size(blocks=4, threads=64, cells=180, steps=6),
        "small": _Size(blocks=15, threads=128, cells=5000, steps=6),
        # The paper does not state its number of steps.
        "paper": _Size(blocks=15, threads=1024, cells=2_500_000, steps=4),
    },
    play=_play,
)
