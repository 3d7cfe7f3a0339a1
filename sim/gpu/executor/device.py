"""Device: global memory, loaded modules, and launches of their kernels, simulated.

Ref: ScoRD (ISCA'20) Section V; PTX ISA 9.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from racetrap.golden_model.events import WARP_SIZE, DataRegion, Geometry, TraceHeader
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.executor.codegen.compiler import compile_kernel
from racetrap.sim.gpu.executor.machine.arguments import parameter_bytes
from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.executor.machine.event_log import EventLog
from racetrap.sim.gpu.executor.machine.launch import Launch, LaunchStats
from racetrap.sim.gpu.executor.machine.memory import HEAP_BASE, Heap
from racetrap.sim.gpu.executor.machine.program_counters import event_pc
from racetrap.sim.gpu.executor.machine.shapes import three_dimensions
from racetrap.sim.gpu.executor.machine.warp_schedulers import WARP_SCHEDULERS
from racetrap.sim.gpu.ptx.module import Module

__all__ = ["DEFAULT_REGION_LOG2", "DEFAULT_STALL_LIMIT", "Device", "LaunchStats"]

#: With 16 words to a metadata entry, no two within 64 KiB share one.
DEFAULT_REGION_LOG2 = 20

#: A few seconds of a launch in which nothing happens.
DEFAULT_STALL_LIMIT = 5_000_000
_MOST_THREADS = 1024


class Device:
    """A GPU that runs PTX kernels and keeps a trace of what they do.

    Parameters
    ----------
    geometry : Geometry
        SMs, and block and warp slots of each.
    scheduler : str
        One of ``WARP_SCHEDULERS``.
    seed : int
        Seed of the random scheduler.
    independent_threads : bool
        Whether the lanes of a warp are scheduled independently (from Volta on) and not in
        lockstep.
    stall_limit : int
        Warp instructions after which a launch is given up in which all the time no value in
        memory has changed, no warp has ended and no barrier has been passed.
    instruction_limit : int, optional
        Warp instructions after which a launch is given up whatever it does.

    Raises
    ------
    ValueError
        If there is no such scheduler, or a limit below 1.
    """

    def __init__(
        self,
        geometry: Geometry,
        *,
        scheduler: str = "round-robin",
        seed: int = 1,
        independent_threads: bool = False,
        stall_limit: int = DEFAULT_STALL_LIMIT,
        instruction_limit: int | None = None,
    ):
        if scheduler not in WARP_SCHEDULERS:
            choices = ", ".join(WARP_SCHEDULERS)
            raise ValueError(f"Scheduler must be one of {choices}, not {scheduler}")
        if stall_limit < 1:
            raise ValueError(f"Stall limit must be at least 1, not {stall_limit}")
        self.geometry = geometry
        self._scheduler, self._seed = scheduler, seed
        self._independent_threads = independent_threads
        self._stall_limit, self._instruction_limit = stall_limit, instruction_limit
        self._heap = Heap()
        self._log = EventLog()
        #: Address and size of each variable of the loaded modules.
        self._modules: dict[Module, dict[str, tuple[int, int]]] = {}
        self._launches = 0

    # Memory

    def allocate(self, data: np.ndarray | int) -> int:
        """Address of a new buffer: a copy of an array, or so many bytes of zeros.

        Buffers begin at multiples of 256 and are at least so far apart that small overruns are
        found.
        """
        if isinstance(data, int | np.integer):
            return self._heap.allocate(int(data))
        address = self._heap.allocate(data.nbytes)
        self.write(address, data)
        return address

    def read(self, address: int, dtype: Any, count: int) -> np.ndarray:
        """A copy of ``count`` values; raises ``ValueError`` if they are not in one buffer."""
        size = count * np.dtype(dtype).itemsize
        return self._heap.bytes_at(address, size).copy().view(dtype)

    def write(self, address: int, array: np.ndarray) -> None:
        """Store an array; raises ``ValueError`` if it does not fit in one buffer."""
        raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        self._heap.bytes_at(address, len(raw))[:] = raw

    # Modules

    def load(self, module: Module) -> None:
        """Give the module's variables their place and first values; once for each module."""
        if module in self._modules:
            return
        places = self._modules[module] = {}
        variables = [v for v in module.variables.values() if v.space in ("global", "const")]
        for variable in variables:
            if variable.size:
                address = self._heap.allocate(variable.size, f"variable {variable.name}")
                places[variable.name] = address, variable.size
        for variable in variables:
            if variable.initial is not None and variable.size:
                address, _ = places[variable.name]
                self.write(address, np.frombuffer(variable.initial, np.uint8))
                for offset, name, addend in variable.addresses:
                    target = np.array([self.symbol(module, name)[0] + addend], np.uint64)
                    self.write(address + offset, target)

    def symbol(self, module: Module, name: str) -> tuple[int, int]:
        """Address and size of a ``__device__`` or ``__constant__`` variable.

        Raises
        ------
        ExecutionError
            If the module has no such variable.
        """
        self.load(module)
        places = self._modules[module]
        if name not in places:
            raise ExecutionError(f"Symbol must be a variable of {module.name}, not {name}")
        return places[name]

    # Launches

    def launch(
        self,
        module: Module,
        kernel: str,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        arguments: Sequence[int | float],
        dynamic_shared: int = 0,
    ) -> LaunchStats:
        """Run a kernel to its end.

        Parameters
        ----------
        module : Module
            Where the kernel is.
        kernel : str
            Its name in the PTX.
        grid, block : int or sequence of int
            Blocks, and threads of each, in one to three dimensions.
        arguments : sequence of int or float
            A number or an address for each parameter; bytes for a structure.
        dynamic_shared : int
            Bytes of dynamic shared memory for each block.

        Raises
        ------
        ValueError
            If a size is not a number of at least 1, or a block too large.
        PtxError
            If the kernel has an instruction that the executor does not know; before the run.
        ExecutionError
            If there is no such kernel, its arguments are others, a thread does what it must
            not, or the launch cannot end.
        """
        self.load(module)
        program = compile_kernel(module, kernel)
        shape = three_dimensions("Block", block)
        threads = shape[0] * shape[1] * shape[2]
        most = min(_MOST_THREADS, program.max_threads or _MOST_THREADS)
        if threads > most:
            raise ValueError(f"Block must have at most {most} threads, not {threads}")
        if dynamic_shared < 0:
            raise ValueError(f"Dynamic shared memory must not be negative, not {dynamic_shared}")
        parameters, size = parameter_bytes(kernel, program.parameters, arguments)
        self._log.resume()
        self._launches += 1
        return Launch(
            program, three_dimensions("Grid", grid), shape, dynamic_shared, parameters, size,
            [self._symbol_row(module, name) for name in program.symbols], self._heap,
            self.geometry, WARP_SCHEDULERS[self._scheduler](self._seed + self._launches),
            self._log, self._independent_threads, self._stall_limit, self._instruction_limit,
            self._launches,
        ).run()  # fmt: skip

    def _symbol_row(self, module: Module, name: str) -> np.ndarray:
        return np.full(WARP_SIZE, self.symbol(module, name)[0], np.int64)

    # The trace

    def trace(self, source: str, region_log2: int = DEFAULT_REGION_LOG2) -> Trace:
        """Trace of everything launched so far.

        Parameters
        ----------
        source : str
            What it was, in one line.
        region_log2 : int
            Log2 of the bytes monitored at least.  The region is the smallest such that all
            buffers lie in it.  A detector that caches metadata lets words share an entry that
            lie a fraction of the region apart, so in a region no larger than a few small
            buffers each word has its entry taken by the next buffer's.
        """
        events, lanes = self._log.arrays()
        locations: dict[int, str] = {}
        # Program counters of a second module would mean other lines.
        for module in islice(self._modules, 1):
            for function in module.functions.values():
                for instruction in function.instructions:
                    if instruction.location is not None:
                        locations[event_pc(instruction.index)] = str(instruction.location)
        header = TraceHeader(
            geometry=self.geometry,
            region=self._region(region_log2),
            source=source,
            seed=self._seed,
            locations=locations,
        )
        return Trace(header, events, lanes)

    def _region(self, least_log2: int) -> DataRegion:
        buffers = self._heap.buffers
        low = buffers[0].address if buffers else HEAP_BASE
        high = buffers[-1].address + buffers[-1].size - 1 if buffers else HEAP_BASE
        size_log2 = max((low ^ high).bit_length(), least_log2)
        return DataRegion(low >> size_log2 << size_log2, size_log2)
