"""An executor that stands in for a GPU, and runs instrumented kernels as a GPU's driver would."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from racetrap.golden_model.events import Geometry
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.executor.machine.memory import HEAP_BASE
from racetrap.sim.gpu.instrumented.gpu import KernelCall
from racetrap.sim.gpu.ptx.linking import link
from racetrap.sim.gpu.ptx.module import Module
from racetrap.sim.gpu.ptx.parser import parse_ptx

#: Bytes of the memory that is at the same addresses in the program's device.
_COMMON = 0xA000_0000


class ExecutorGpu:
    """A GPU that is a device of the executor.

    Parameters
    ----------
    geometry : Geometry
        Its size.
    settings
        Settings of the device, such as ``scheduler`` and ``seed``.
    """

    def __init__(self, geometry: Geometry, **settings: object):
        self.geometry = geometry
        self._device = Device(geometry, independent_threads=True, **settings)  # type: ignore[arg-type]
        assert self._device.allocate(_COMMON) == HEAP_BASE
        self._instructions, self.microseconds = 0, 0.0
        #: Warp instructions of all launches.
        self.executed = 0

    def load(self, texts: Sequence[str], threads: int) -> Module:
        """The module of the texts."""
        parts = []
        for text in texts:
            parts.append(parse_ptx(text, "instrumented", self._instructions))
            self._instructions += sum(len(f.instructions) for f in parts[-1].functions.values())
        return link(parts)

    def symbol(self, image: Module, name: str) -> int:
        """Address of a variable."""
        return self._device.symbol(image, name)[0]

    def allocate(self, size: int) -> int:
        """Address of memory that the program's device does not have."""
        return self._device.allocate(size)

    def write(self, address: int, data: np.ndarray) -> None:
        """Copy bytes to it."""
        self._device.write(address, data)

    def read(self, address: int, size: int) -> np.ndarray:
        """Copy bytes from it."""
        return self._device.read(address, np.uint8, size)

    def launch(self, image: Module, call: KernelCall) -> None:
        """Run a kernel to its end."""
        prepared = self._device.prepare(
            image, call.kernel, call.grid, call.block, call.parameters, call.shared,
            call.is_cooperative,
        )  # fmt: skip
        self.executed += self._device.run(prepared, None).warp_instructions
