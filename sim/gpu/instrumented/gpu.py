"""Launches on a GPU: instrumented, run, and their log read into the trace.

Addresses are the executor's: global memory, with the module's variables, is at the same addresses
on the GPU, and is copied there before a launch and back behind it.

Ref: BARRACUDA (PLDI'17) Section 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from racetrap.golden_model.events import Geometry
from racetrap.sim.gpu.executor.machine.errors import ExecutionError, Fault, KernelFault
from racetrap.sim.gpu.executor.machine.launch import Launch, LaunchStats
from racetrap.sim.gpu.executor.machine.program import KernelProgram
from racetrap.sim.gpu.executor.machine.shapes import Shape
from racetrap.sim.gpu.instrumented.instrumenter import instrument
from racetrap.sim.gpu.instrumented.log_reader import UNIT, LogReader
from racetrap.sim.gpu.instrumented.sites import LogSite
from racetrap.sim.gpu.ptx.control_flow import is_indirect_call
from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.module import Module, parameter_layout

#: Units of the log of a launch: 1 GiB.
DEFAULT_UNITS = 1 << 25
_COUNTER_BYTES = 16
#: Threads of a block that can have all registers that they want.
_FEW_THREADS = 256


class KernelCall(NamedTuple):
    """A launch as a driver takes it.

    Parameters
    ----------
    kernel : str
        Name of the kernel.
    grid, block : (int, int, int)
        Its shape.
    shared : int
        Bytes of dynamic shared memory.
    is_cooperative : bool
        Whether its blocks may wait for each other.
    parameters : tuple of bytes
        Value of each parameter.
    """

    kernel: str
    grid: Shape
    block: Shape
    shared: int
    is_cooperative: bool
    parameters: tuple[bytes, ...]

    @classmethod
    def of(cls, launch: Launch) -> KernelCall:
        """That of a launch of the executor's."""
        parameters = launch.program.parameters
        offsets, _ = parameter_layout(parameters)
        raw = launch.parameters.raw
        values = tuple(
            raw[offset : offset + each.size].tobytes()
            for offset, each in zip(offsets, parameters, strict=True)
        )
        return cls(
            launch.kernel_name, launch.grid, launch.block_shape, launch.dynamic_shared,
            bool(launch.grid_workspace), values,
        )  # fmt: skip


class Gpu(Protocol):
    """A GPU, by the functions of its driver; it says how long its last kernel took."""

    microseconds: float

    @property
    def geometry(self) -> Geometry:
        """Its size."""

    def load(self, texts: Sequence[str], threads: int) -> Any:
        """PTX, linked and ready to be launched with so many threads in a block."""

    def symbol(self, image: Any, name: str) -> int:
        """Address of a variable of a module."""

    def allocate(self, size: int) -> int:
        """Address of memory outside the addresses of the executor."""

    def write(self, address: int, data: np.ndarray) -> None:
        """Copy bytes to it."""

    def read(self, address: int, size: int) -> np.ndarray:
        """Copy bytes from it."""

    def launch(self, image: Any, call: KernelCall) -> None:
        """Run a kernel to its end; raise `KernelFault` if it has none, after which the GPU has
        neither images nor memory."""


@dataclass(frozen=True, eq=False)
class _Instrumented:
    """A module that logs.

    Parameters
    ----------
    texts : tuple of str
        Its PTX, in parts that are to be linked.
    sites : tuple of LogSite
        What the records say.
    refused : dict of str to PtxError
        Functions that do what cannot be logged.
    places : dict of str to (int, int)
        Address and size of its variables in the program's memory.
    constants : tuple of str
        Those that the GPU keeps elsewhere, and that the program can change.
    """

    texts: tuple[str, ...]
    sites: tuple[LogSite, ...]
    refused: dict[str, PtxError]
    places: dict[str, tuple[int, int]]
    constants: tuple[str, ...]


class InstrumentedLaunches:
    """Runs launches on a GPU, in the executor's place.

    Parameters
    ----------
    gpu : Gpu
        The GPU.
    units : int
        Units of 32 bytes in the log of a launch.

    Attributes
    ----------
    logged : int
        Bytes of the logs of all launches.
    microseconds : float
        Time of all kernels on the GPU.
    """

    def __init__(self, gpu: Gpu, units: int = DEFAULT_UNITS):
        self._gpu, self._units = gpu, units
        self.logged, self.microseconds = 0, 0.0
        self._modules: dict[Module, _Instrumented] = {}
        self._images: dict[tuple[_Instrumented, int], Any] = {}
        self._log = self._counters = self._launches = 0

    @property
    def geometry(self) -> Geometry:
        """Size of the GPU."""
        return self._gpu.geometry

    def check(
        self, program: KernelProgram, places: Mapping[str, tuple[int, int]], clustered: bool
    ) -> None:
        """Instrument the module of a kernel; raise `PtxError` or `ExecutionError` if the kernel
        cannot be logged."""
        if clustered:
            raise ExecutionError(
                f"Kernel {program.kernel.name} has clusters of several blocks, which cannot be "
                "logged on a GPU: run the program on the executor"
            )
        module = program.module
        known = self._modules.get(module)
        if known is None or known.places != places:
            self._modules[module] = _instrumented(module, places)
        for name in program.functions:
            if error := self._modules[module].refused.get(name):
                raise error

    def run(self, launch: Launch, stream: int = 0, call: int = 0) -> LaunchStats:
        """Run a launch, and read its log into the trace.

        Raises
        ------
        KernelFault
            If it does not end, or its log is full.
        """
        log, heap, first = launch.log, launch.heap, launch.log.count
        log.kernel_begin(stream, call)
        reader = LogReader(launch, self._modules[launch.program.module].sites)
        try:
            image = self._prepared(launch)
            for buffer in heap.buffers:
                self._gpu.write(buffer.address, heap.bytes_at(buffer.address, buffer.size))
            self._gpu.launch(image, KernelCall.of(launch))
            self.microseconds += self._gpu.microseconds
            for buffer in heap.buffers:
                heap.bytes_at(buffer.address, buffer.size)[:] = self._gpu.read(
                    buffer.address, buffer.size
                )
            used = int(self._gpu.read(self._counters, 4).view(np.uint32)[0])
            self.logged += min(used, self._units) * UNIT
            units = self._gpu.read(self._log, min(used, self._units) * UNIT)
            reader.read(units.tobytes(), self._launches)
        except KernelFault:
            self._images, self._log = {}, 0
            raise
        except ExecutionError as error:
            sentence = f"Kernel {launch.kernel_name} cannot be run on the GPU: {error}"
            raise KernelFault(Fault.TRAP, sentence) from None
        finally:
            log.kernel_end()
            launch.ran_elsewhere(reader.begun, reader.ended)
        if used > self._units:
            raise KernelFault(
                Fault.NO_END,
                f"Kernel {launch.kernel_name} was ended, since its log of "
                f"{self._units * UNIT >> 20} MiB is full",
            )
        return LaunchStats(0, 0, reader.begun, log.count - first)

    def _prepared(self, launch: Launch) -> Any:
        """The image of a launch's module, with an empty log and constants as they are now."""
        done, gpu = self._modules[launch.program.module], self._gpu
        if not self._log:
            self._log = gpu.allocate(self._units * UNIT)
            self._counters = gpu.allocate(_COUNTER_BYTES)
        threads = int(np.prod(launch.block_shape))
        key = done, max(threads, _FEW_THREADS)
        if key not in self._images:
            self._images[key] = gpu.load(done.texts, key[1])
        image = self._images[key]
        self._launches += 1
        table = np.array([self._log, self._units, self._counters, self._launches], np.uint64)
        gpu.write(gpu.symbol(image, "racetrap_log"), table.view(np.uint8))
        gpu.write(self._counters, np.zeros(_COUNTER_BYTES, np.uint8))
        for name in done.constants:
            gpu.write(gpu.symbol(image, name), launch.heap.bytes_at(*done.places[name]))
        return image


def _instrumented(module: Module, places: Mapping[str, tuple[int, int]]) -> _Instrumented:
    texts, sites, refused = list[str](), list[LogSite](), dict[str, PtxError]()
    spaces = {name: module.variables[name].space for name in places}
    addresses = {name: places[name][0] for name in places if spaces[name] == "global"}
    for part in module.parts or (module,):
        done = instrument(part, addresses, len(sites), not texts)
        texts.append(done.text)
        sites += done.sites
        refused |= done.refused
    return _Instrumented(
        tuple(texts), tuple(sites), refused | _tables(module), dict(places),
        tuple(name for name in places if spaces[name] == "const"),
    )  # fmt: skip


def _tables(module: Module) -> dict[str, PtxError]:
    """Functions that may call others by addresses in memory, which are not those of the GPU."""
    named = {name for each in module.variables.values() for _, name, _ in each.addresses}
    if not named & module.functions.keys():
        return {}
    return {
        function.name: PtxError(
            module.name, each.line, "Call by an address in memory cannot be made on a GPU: run "
            "the program on the executor"
        )
        for function in module.functions.values() for each in function.instructions
        if is_indirect_call(each)
    }  # fmt: skip
