"""Work queues of the graph applications (``work_queue.cuh``), and their race switches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.ptx.module import Module
from racetrap.sim.gpu.workloads.base import Switch

_WORD = 4


class QueueError(Enum):
    """An error in the synchronisation of a queue: bit of a kernel's ``switches``, name, text."""

    NO_BARRIER_BEFORE_TAKE = 1, "no-barrier", "no barrier before the next chunk is taken"
    BLOCK_SCOPE_STEAL = 2, "block-scope-steal", "chunks are stolen by an add of block scope"
    BLOCK_SCOPE_TAKE = (
        4, "block-scope-take", "a block takes chunks of its queue by an add of block scope",
    )  # fmt: skip
    NO_BARRIER_AFTER_TAKE = 8, "no-barrier", "no barrier after the next chunk is taken"


#: Kernel, and an error that one of the workload's switches makes in it.
_Switched = tuple[str, QueueError]


def queue_switches(switched: Iterable[_Switched]) -> tuple[Switch, ...]:
    """Race switches of a workload."""
    return tuple(
        Switch(f"{kernel}-{error.value[1]}", f"{kernel}: {error.value[2]}")
        for kernel, error in switched
    )


@dataclass(frozen=True)
class GraphSize:
    """Size of a run on a random graph."""

    blocks: int
    threads: int
    vertices: int
    edges: int


class WorkQueues:
    """One queue for each block.

    Parameters
    ----------
    device : Device
        Device whose memory holds them.
    module : Module
        The kernels that use them.
    size : GraphSize
        Launch shape of the kernels.
    switched : sequence of (str, QueueError)
        Kernel and error of each race switch of the workload.
    switches : int
        Bit n is set if switch n is on.
    """

    def __init__(
        self, device: Device, module: Module, size: GraphSize, switched: Sequence[_Switched],
        switches: int,
    ) -> None:  # fmt: skip
        self._device, self._module = device, module
        self._shape = size.blocks, size.threads
        self._buffers = [device.allocate(_WORD * size.blocks) for _ in range(4)]
        self._on = [one for bit, one in enumerate(switched) if switches >> bit & 1]

    def launch(self, kernel: str, items: int, arguments: Sequence[int]) -> None:
        """Share ``items`` items out evenly and run a kernel over them."""
        bounds = np.linspace(0, items, self._shape[0] + 1).astype(np.int32)
        heads, tails = self._buffers[:2]
        self._device.write(heads, bounds[:-1])
        self._device.write(tails, bounds[1:])
        switches = sum(error.value[0] for broken, error in self._on if broken == kernel)
        self._device.launch(
            self._module, kernel, *self._shape, [*self._buffers, *arguments, switches]
        )
