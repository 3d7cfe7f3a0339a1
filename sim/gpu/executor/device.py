"""Device: global memory, loaded modules, and launches of their kernels, simulated.

Ref: ScoRD (ISCA'20) Section V; PTX ISA 9.0.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np

from racetrap.golden_model.checks import unknown_name
from racetrap.golden_model.events import (
    WARP_SIZE,
    DataRegion,
    EventKind,
    Geometry,
    Space,
    TraceHeader,
)
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.executor.call_paths import CallPaths
from racetrap.sim.gpu.executor.cluster_shape import cluster_shape
from racetrap.sim.gpu.executor.codegen.compiler import compile_kernel, kernel_named
from racetrap.sim.gpu.executor.machine.arguments import parameter_bytes
from racetrap.sim.gpu.executor.machine.errors import ExecutionError, KernelFault
from racetrap.sim.gpu.executor.machine.event_log import EventLog, Judge, Unlogged
from racetrap.sim.gpu.executor.machine.launch import (
    Launch,
    LaunchStats,
    Watch,
    unwatched,
)
from racetrap.sim.gpu.executor.machine.limits import DEFAULT_STALL_LIMIT, Limits
from racetrap.sim.gpu.executor.machine.memory import HEAP_BASE, Buffer, Heap
from racetrap.sim.gpu.executor.machine.program import KernelProgram, function_address
from racetrap.sim.gpu.executor.machine.program_counters import event_pc
from racetrap.sim.gpu.executor.machine.shapes import three_dimensions
from racetrap.sim.gpu.executor.machine.warp_schedulers import (
    WARP_SCHEDULERS,
    ChosenOrder,
    WarpScheduler,
    unwrapped,
)
from racetrap.sim.gpu.executor.machine.weak_memory import WeakMemorySettings
from racetrap.sim.gpu.executor.memory_objects import MemoryObjects
from racetrap.sim.gpu.ptx.module import TYPE_BYTES, Function, Instruction, Module

#: With 16 words to a metadata entry, no two within 64 KiB share one.
DEFAULT_REGION_LOG2 = 20

_MOST_THREADS = 1024
_WORKSPACE_BYTES = 256


def _numbers(module: Module) -> range:
    """Numbers of a module's instructions."""
    numbers = [i.index for function in module.functions.values() for i in function.instructions]
    return range(min(numbers), max(numbers) + 1) if numbers else range(0)


_VARIABLE = "a `__device__` variable"


def _with_rest(fault: KernelFault, launch: Launch) -> str:
    """A fault, and what it leaves undone."""
    head, *lines = str(fault).split("\n")
    rest = (
        f"; not judged: the rest of this launch, of which {launch.ended_blocks} of "
        f"{launch.block_count} blocks had ended, and later launches"
    )
    return "\n".join([head + rest, *lines])


def _printable(text: str) -> str:
    """A text without the other characters that a program may have in its names and messages."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


class Machine(Protocol):
    """What runs launches in the executor's place."""

    def check(
        self, program: KernelProgram, places: Mapping[str, tuple[int, int]], clustered: bool
    ) -> None:
        """Raise `PtxError` or `ExecutionError` if it cannot run a kernel, whose module's variables
        are at some places, and which may be launched in clusters of several blocks."""

    def run(self, launch: Launch, stream: int, call: int) -> LaunchStats:
        """Run a launch on its memory, to its end, and log it as ``Launch.run`` does."""


class Operation(NamedTuple):
    """Place of a launch or a copy among the operations of a trace.

    Parameters
    ----------
    stream : int
        Its stream.
    after : tuple of int
        Operations of other streams that it comes after.
    call : int
        Program counter of the call that asked for it; 0 if it is not known.
    """

    stream: int = 0
    after: tuple[int, ...] = ()
    call: int = 0


#: The next operation of the default stream.
_NEXT = Operation()


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
        Warp instructions after which a launch is aborted if during all of them no value in memory
        has changed, no warp has ended and no barrier has been passed.
    instruction_limit : int, optional
        Warp instructions after which a launch is aborted in any case.
    event_limit : int, optional
        Events of all launches together after which a launch is aborted.
    memory_file : int, optional
        Descriptor of a file of ``HEAP_END`` bytes that holds the memory, for another process to
        share.
    write : callable
        Receives what threads print; by default, standard error.
    watch : Watch
        Observer of running launches; none by default.
    wrap : callable
        Wraps the scheduler of each launch, to observe turns.
    keeps_going : bool
        Whether a load from outside all memory gets 0, is noted in the trace, and does not end the
        launch.
    memory : WeakMemorySettings, optional
        Memory model, whose choices also say which warp is next; without it memory is
        sequentially consistent.
    make_judge : callable, optional
        Makes the judge of a run that is too long to be kept; without it all is kept.
    logged : collection of int, optional
        Program counters of the weak accesses that are kept; by default all.
    share : float
        Share of the blocks whose weak accesses are kept.
    machine : Machine, optional
        What runs the launches; by default the executor.

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
        event_limit: int | None = None,
        memory_file: int | None = None,
        write: Callable[[str], object] = sys.stderr.write,
        watch: Watch = unwatched,
        wrap: Callable[[WarpScheduler], WarpScheduler] = unwrapped,
        keeps_going: bool = False,
        memory: WeakMemorySettings | None = None,
        make_judge: Callable[[], Judge] | None = None,
        logged: Collection[int] | None = None,
        share: float = 1.0,
        machine: Machine | None = None,
    ):
        if scheduler not in WARP_SCHEDULERS:
            raise ValueError(unknown_name("scheduler", scheduler, WARP_SCHEDULERS))
        if stall_limit < 1:
            raise ValueError(f"Stall limit must be at least 1, not {stall_limit}")
        self.geometry = geometry
        self._scheduler, self._seed = scheduler, seed
        self._independent_threads = independent_threads
        self._limits = Limits(stall_limit, instruction_limit, event_limit)
        self._write, self._watch, self._memory = write, watch, memory
        self._wrap, self._machine = wrap, machine
        self._heap = Heap(memory_file)
        self._log = EventLog(make_judge, logged, share)
        self._objects = MemoryObjects()
        #: Address and size of each variable of the loaded modules.
        self._modules: dict[Module, dict[str, tuple[int, int]]] = {}
        self._launches = self._workspace = 0
        #: Faults that ended kernels, by number of the operation.
        self._faults: dict[int, str] = {}
        #: Loads from outside all memory, by program counter, if they do not end a launch.
        self._outside: dict[int, str] | None = {} if keeps_going else None
        #: Counts of all launches, also of those that a fault has ended.
        self.stats = LaunchStats(0, 0, 0, 0)
        #: What the clocks show.
        self._time = 0

    # Memory

    def allocate(
        self, data: np.ndarray | int, alignment: int = 256, name: str = "", origin: str = "",
        calls: Sequence[int] = (), own_size: int = 0,
    ) -> int:  # fmt: skip
        """Address of a new buffer: a copy of an array, or so many bytes of zeros.

        Buffers begin at multiples of 256, or of more, and are at least so far apart that small
        overruns are found.

        Parameters
        ----------
        data : numpy.ndarray or int
            The array, or the bytes.
        alignment : int
            Number of which the address is a multiple.
        name, origin : str
            Name for reports, and what allocates it, in words; it has no report without the latter.
        calls : sequence of int
            Program counters of the call that allocates it, and of the calls that lead there.
        own_size : int
            Bytes that the program requested, if fewer.
        """
        size, element = (
            (data.nbytes, data.itemsize) if isinstance(data, np.ndarray) else (int(data), 1)
        )
        address = self._heap.allocate(size, alignment=alignment)
        if isinstance(data, np.ndarray):
            self.write(address, data)
        if origin:
            self._objects.add(Space.GLOBAL, address, own_size or size, element, name, origin, calls)
        return address

    def free(self, address: int) -> None:
        """Free a buffer; raises ``ValueError`` if none begins at the address."""
        self._heap.free(address)

    def buffer(self, address: int) -> Buffer | None:
        """The buffer that holds an address, if there is one."""
        return self._heap.find(address)

    def read(self, address: int, dtype: Any, count: int) -> np.ndarray:
        """A copy of ``count`` values; raises ``ValueError`` if they are not in one buffer."""
        size = count * np.dtype(dtype).itemsize
        return self._heap.bytes_at(address, size).copy().view(dtype)

    def write(self, address: int, array: np.ndarray) -> None:
        """Store an array; raises ``ValueError`` if it does not fit in one buffer."""
        raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        self._heap.bytes_at(address, len(raw))[:] = raw

    # Modules

    @property
    def modules(self) -> tuple[Module, ...]:
        """The loaded modules."""
        return tuple(self._modules)

    def load(self, module: Module) -> None:
        """Give the module's variables their place and first values; once for each module.

        Raises
        ------
        ValueError
            If its instructions have numbers that those of another module have.
        """
        if module in self._modules:
            return
        own = _numbers(module)
        for other in self._modules:
            if range(max(own.start, _numbers(other).start), min(own.stop, _numbers(other).stop)):
                raise ValueError(
                    f"Instructions of {module.name} have the numbers of those of {other.name}"
                )
        places = self._modules[module] = {}
        variables = [v for v in module.variables.values() if v.space in ("global", "const")]
        for variable in variables:
            if variable.size:
                address = self._heap.allocate(variable.size, f"variable {variable.name}")
                places[variable.name] = address, variable.size
                origin = "a `__constant__` variable" if variable.space == "const" else _VARIABLE
                element = min(TYPE_BYTES.get(variable.type, 1), variable.size)
                self._objects.add(
                    Space.GLOBAL, address, variable.size, element, variable.name, origin
                )
        for variable in variables:
            if variable.initial is not None and variable.size:
                address, _ = places[variable.name]
                self.write(address, np.frombuffer(variable.initial, np.uint8))
                for offset, name, addend in variable.addresses:
                    if name in module.functions:
                        target = function_address(module, name)
                    else:
                        target = self.symbol(module, name)[0] + addend
                    self.write(address + offset, np.array([target], np.uint64))

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
        arguments: Sequence[int | float | bytes] | bytes,
        dynamic_shared: int = 0,
        cooperative: bool = False,
        cluster: int | Sequence[int] | None = None,
    ) -> LaunchStats:
        """Run a kernel to its end: `prepare` and `run`."""
        return self.run(
            self.prepare(
                module, kernel, grid, block, arguments, dynamic_shared, cooperative, cluster
            )
        )

    def prepare(
        self,
        module: Module,
        kernel: str,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        arguments: Sequence[int | float | bytes] | bytes,
        dynamic_shared: int = 0,
        cooperative: bool = False,
        cluster: int | Sequence[int] | None = None,
    ) -> Launch:
        """Launch of a kernel, to be run.

        Parameters
        ----------
        module : Module
            Where the kernel is.
        kernel : str
            Its name in the PTX.
        grid, block : int or sequence of int
            Blocks, and threads of each, in one to three dimensions.
        arguments : sequence of int, float or bytes, or bytes
            A number or an address for each parameter, bytes for a structure; or the bytes of
            all parameters.
        dynamic_shared : int
            Bytes of dynamic shared memory for each block.
        cooperative : bool
            Whether all blocks must be resident at once, and can wait for each other.
        cluster : int or sequence of int, optional
            Blocks of a cluster, in one to three dimensions; by default as the kernel declares.

        Raises
        ------
        ValueError
            If a size is not a number of at least 1, or a block or cluster too large, or if clusters
            do not make up the grid or are not as the kernel declares.
        PtxError
            If the kernel has an instruction that the executor does not know.
        ExecutionError
            If there is no such kernel, its arguments are others, or its blocks do not fit.
        """
        self.load(module)
        blocks = three_dimensions("Grid", grid)
        clusters = cluster_shape(kernel_named(module, kernel), blocks, cluster)
        has_several = clusters is not None and prod(clusters) > 1
        program = compile_kernel(module, kernel, self._memory is not None, has_several)
        shape = three_dimensions("Block", block)
        threads = shape[0] * shape[1] * shape[2]
        most = min(_MOST_THREADS, program.max_threads or _MOST_THREADS)
        if threads > most:
            raise ValueError(f"Block must have at most {most} threads, not {threads}")
        if dynamic_shared < 0:
            raise ValueError(f"Dynamic shared memory must be 0 bytes or more, not {dynamic_shared}")
        parameters, size = parameter_bytes(kernel, program.parameters, arguments)
        if self._machine is not None:
            self._machine.check(program, self._modules[module], has_several)
        self._launches += 1
        return Launch(
            program, blocks, shape, clusters, dynamic_shared, parameters, size,
            [self._symbol_row(module, name) for name in program.symbols], self._heap,
            self.geometry, self._schedule(),
            self._log, self._independent_threads, self._limits, self._launches,
            self._grid_workspace() if cooperative else 0, self._write, self._watch, self._outside,
            self._memory,
        )  # fmt: skip

    def _schedule(self) -> WarpScheduler:
        if self._memory is not None:
            return ChosenOrder(self._memory.choices)
        return self._wrap(WARP_SCHEDULERS[self._scheduler](self._seed + self._launches))

    def run(self, launch: Launch, operation: Operation | None = _NEXT) -> LaunchStats:
        """Run a launch to its end.

        Parameters
        ----------
        launch : Launch
            What `prepare` has given.
        operation : Operation, optional
            Its place among the operations of the trace; without it the launch is not traced.

        Raises
        ------
        KernelFault
            If a thread does something illegal, or the launch cannot end; the trace has everything
            before that.
        """
        launch.started = self._time
        try:
            run = launch.run if self._machine is None else partial(self._machine.run, launch)
            if operation is None:
                launch.log = EventLog(Unlogged)
                return run(0, 0)
            self._order(operation.after)
            self._objects.begin(launch)
            return run(operation.stream, operation.call)
        except KernelFault as error:
            if operation is not None:
                self._faults[self._log.operations - 1] = _printable(_with_rest(error, launch))
            raise
        finally:
            self._time = launch.time
            self.stats = LaunchStats(*map(sum, zip(self.stats, launch.stats, strict=True)))
            if operation is not None:
                self._objects.end(launch)

    def copy(
        self, kind: EventKind, ranges: Sequence[tuple[int, int]], operation: Operation
    ) -> None:
        """Note that a copy reads or writes ranges; the bytes are left as they are.

        Parameters
        ----------
        kind : EventKind
            COPY_READ or COPY_WRITE.
        ranges : sequence of (int, int)
            First address and bytes of each, at most 32.
        operation : Operation
            Its place among the operations of the trace.
        """
        self._order(operation.after)
        self._log.copy(kind, np.array(ranges, np.uint64), operation.stream, operation.call)

    def _order(self, after: Sequence[int]) -> None:
        """Let the trace say what the next operation comes after."""
        for operation in after:
            self._log.after(operation)

    def _grid_workspace(self) -> int:
        """Address of what the blocks of cooperative launches wait with."""
        if not self._workspace:
            self._workspace = self._heap.allocate(_WORKSPACE_BYTES, "counter of the grid's barrier")
        return self._workspace

    def _symbol_row(self, module: Module, name: str) -> np.ndarray:
        return np.full(WARP_SIZE, self.symbol(module, name)[0], np.int64)

    # The trace

    @property
    def sampled_blocks(self) -> int:
        """Blocks whose weak accesses are logged, of all launches that are traced."""
        return self._log.blocks

    @property
    def judge(self) -> Judge | None:
        """The judge, which has taken all events so far, if the run is too long to be kept."""
        self._log.settle(at_end=True)
        return self._log.judge

    def trace(
        self,
        source: str,
        region_log2: int = DEFAULT_REGION_LOG2,
        calls: Mapping[int, str] = MappingProxyType({}),
        results: Sequence[str] = (),
    ) -> Trace:
        """Trace of everything launched and copied so far; without events if there is a judge.

        Parameters
        ----------
        source : str
            Description of the run, in one line.
        region_log2 : int
            Log2 of the bytes monitored at least.  The region is the smallest such that all
            buffers lie in it.  A detector that caches metadata lets words share an entry that
            lie a fraction of the region apart, so in a region no larger than a few small
            buffers each word has its entry taken by the next buffer's.
        calls : mapping of int to str
            Place in the source of each program counter of a call.
        results : sequence of str
            What memory does not hold in the end, though it is expected, in sentences.
        """
        events, lanes = self._log.arrays()
        paths, used = CallPaths(self._modules), self._log.pcs
        locations, columns, stacks = dict(calls), {}, {}
        for module, function, instruction in self._instructions():
            pc, place = event_pc(instruction.index), instruction.location
            if place is None:
                continue
            locations[pc] = str(place)
            if pc not in used:
                continue
            stacks[pc] = paths.frame(module, function, instruction)
            if place.column:
                columns[pc] = place.column
        header = TraceHeader(
            geometry=self.geometry,
            region=self._region(region_log2),
            source=source,
            seed=self._seed,
            locations=locations,
            columns=columns,
            frames=paths.frames,
            stacks=stacks,
            independent_threads=int(self._independent_threads),
            faults=dict(self._faults),
            outside={pc: _printable(text) for pc, text in (self._outside or {}).items()},
            results=dict(enumerate(map(_printable, results))),
            objects=self._objects.named(locations),
        )
        return Trace(header, events, lanes)

    def _instructions(self) -> Iterator[tuple[Module, Function, Instruction]]:
        for module in self._modules:
            for function in module.functions.values():
                for instruction in function.instructions:
                    yield module, function, instruction

    def _region(self, least_log2: int) -> DataRegion:
        buffers = self._heap.buffers
        low = buffers[0].address if buffers else HEAP_BASE
        high = buffers[-1].address + buffers[-1].size - 1 if buffers else HEAP_BASE
        size_log2 = max((low ^ high).bit_length(), least_log2)
        return DataRegion(low >> size_log2 << size_log2, size_log2)
