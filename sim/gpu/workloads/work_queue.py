"""Work queues of the graph applications, as ``work_queue.cuh`` has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.ptx.module import Module

__all__ = [
    "BLOCK_SCOPE_STEAL",
    "BLOCK_SCOPE_TAKE",
    "NO_BARRIER_AFTER_TAKE",
    "NO_BARRIER_BEFORE_TAKE",
    "WorkQueues",
]

#: Bits of a kernel's ``switches``.
NO_BARRIER_BEFORE_TAKE = 1
BLOCK_SCOPE_STEAL = 2
BLOCK_SCOPE_TAKE = 4
NO_BARRIER_AFTER_TAKE = 8

_WORD = 4


class WorkQueues:
    """One queue for each block.

    Parameters
    ----------
    device : Device
        Where they lie.
    blocks, threads : int
        Launch shape of the kernels that use them.
    """

    def __init__(self, device: Device, blocks: int, threads: int) -> None:
        self._device = device
        self._shape = blocks, threads
        self._buffers = [device.allocate(_WORD * blocks) for _ in range(4)]

    def launch(
        self, module: Module, kernel: str, items: int, arguments: Sequence[int], switches: int
    ) -> None:
        """Share ``items`` items out evenly and run a kernel over them."""
        blocks = self._shape[0]
        bounds = np.linspace(0, items, blocks + 1).astype(np.int32)
        heads, tails = self._buffers[:2]
        self._device.write(heads, bounds[:-1])
        self._device.write(tails, bounds[1:])
        self._device.launch(module, kernel, *self._shape, [*self._buffers, *arguments, switches])
