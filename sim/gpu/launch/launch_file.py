"""Launch files: launches of kernels over common buffers, and the GPU they run on, as TOML.

The format is described in ``docs/kernels.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator, model_validator

from racetrap.golden_model.checks import with_nearest
from racetrap.golden_model.events import MOST_RANKS, USUAL_GEOMETRY, WARP_SIZE, Geometry
from racetrap.sim.gpu.executor.machine.limits import (
    DEFAULT_EVENT_LIMIT,
    DEFAULT_INSTRUCTION_LIMIT,
    DEFAULT_STALL_LIMIT,
)
from racetrap.sim.gpu.executor.machine.shapes import Shape
from racetrap.sim.gpu.executor.machine.warp_schedulers import WARP_SCHEDULERS
from racetrap.sim.gpu.launch.launch_arguments import (
    Argument,
    BufferArgument,
    NamedBuffer,
    PointerArgument,
    StructArgument,
)
from racetrap.sim.gpu.ptx.kernel_names import is_named, written_name
from racetrap.sim.gpu.ptx.module import TYPE_BYTES, Function, Module, Variable
from racetrap.sim.toml_file import Table, TomlError, TomlFile, one_of, read_toml, rule_error

_BLOCK_THREADS = 1024
#: Shared memory that a block may ask for at a launch.
_SHARED_BYTES = 227 * 1024


def _dimensions(*limits: int) -> Callable[[Any], Shape]:
    """Rule of one to three sizes, each up to its limit."""

    def check(value: Any) -> Shape:
        sizes = value if isinstance(value, list) else [value]
        if not 1 <= len(sizes) <= 3 or not all(
            type(size) is int and 1 <= size <= limit
            for size, limit in zip(sizes, limits, strict=False)
        ):
            raise ValueError(f"a number or up to three, from 1 to {', '.join(map(str, limits))}")
        x, y, z = (*sizes, 1, 1)[:3]
        return x, y, z

    return check


#: One to three sizes, within the limits of CUDA.
GridShape = Annotated[Shape, PlainValidator(_dimensions(2**31 - 1, 65535, 65535))]
BlockShape = Annotated[Shape, PlainValidator(_dimensions(_BLOCK_THREADS, _BLOCK_THREADS, 64))]
ClusterShape = Annotated[Shape, PlainValidator(_dimensions(MOST_RANKS, MOST_RANKS, MOST_RANKS))]


def _name(word: str) -> str:
    if not word:
        raise ValueError("a name")
    return word


class _Gpu(Table):
    """Size of the GPU; by default the paper's."""

    sm_count: Annotated[int, Field(ge=1, le=1024)] = USUAL_GEOMETRY.sm_count
    blocks_per_sm: Annotated[int, Field(ge=1, le=64)] = USUAL_GEOMETRY.blocks_per_sm
    warps_per_sm: Annotated[int, Field(ge=1, le=64)] = USUAL_GEOMETRY.warps_per_sm


class LaunchTable(Table):
    """One launch of a kernel.

    Parameters
    ----------
    kernel : str
        Name of the kernel.
    grid, block : (int, int, int)
        Blocks of the grid and threads of a block, within the limits of CUDA.
    arguments : list of Argument
        Arguments in order.
    dynamic_shared : int
        Bytes of dynamic shared memory.
    cooperative : bool
        Whether all blocks must be on the GPU at once, to wait for each other.
    cluster : (int, int, int), optional
        Blocks of a cluster; by default as the kernel declares.
    """

    kernel: Annotated[str, AfterValidator(_name)]
    grid: GridShape
    block: BlockShape
    arguments: list[Argument]
    dynamic_shared: Annotated[int, Field(ge=0, le=_SHARED_BYTES)] = 0
    cooperative: bool = False
    cluster: ClusterShape | None = None


class LaunchSpec(LaunchTable, TomlFile):
    """A launch of a kernel, and those that follow it.

    Parameters
    ----------
    buffers : list of NamedBuffer
        Buffers that pointers of all launches can point into.
    next : list of LaunchTable
        Further launches, one after the other; memory keeps its contents.
    schedules : int, optional
        Runs of all launches, the first by ``scheduler``, others with warps at random; by default
        as many as the caller chooses.
    gpu : table
        Size of the GPU.
    scheduler : str
        Name of the warp scheduler.
    seed : int
        Seed of the scheduler and of random buffers.
    independent_threads : bool, optional
        Whether lanes that diverge run independently of each other, and not in lockstep; by default
        they do in sequentially consistent memory.
    stall_limit : int
        Warp instructions without progress after which a launch is aborted.
    instruction_limit : int
        Warp instructions after which a launch is aborted in any case.
    event_limit : int
        Events of all launches together after which a launch is aborted.
    count_instructions : bool
        Whether the trace has at each event the instructions that its warp has run since the one
        before.
    """

    buffers: list[NamedBuffer] = Field(default_factory=list)
    next: list[LaunchTable] = Field(default_factory=list)
    schedules: Annotated[int, Field(ge=1, le=10_000)] | None = None
    gpu: _Gpu = _Gpu()
    scheduler: Annotated[str, one_of(WARP_SCHEDULERS)] = "round-robin"
    seed: Annotated[int, Field(ge=0, lt=2**64)] = 1
    independent_threads: bool | None = None
    stall_limit: Annotated[int, Field(ge=1, lt=2**63)] = DEFAULT_STALL_LIMIT
    instruction_limit: Annotated[int, Field(ge=1, lt=2**63)] = DEFAULT_INSTRUCTION_LIMIT
    event_limit: Annotated[int, Field(ge=1, lt=2**63)] = DEFAULT_EVENT_LIMIT
    count_instructions: bool = False

    @property
    def launches(self) -> list[tuple[str, LaunchTable]]:
        """All launches in their order, each with the prefix of its keys."""
        return [("", self), *((f"next[{n}].", each) for n, each in enumerate(self.next))]

    @property
    def geometry(self) -> Geometry:
        """Size of the GPU."""
        return Geometry(**self.gpu.model_dump())

    @model_validator(mode="after")
    def _check_launches(self) -> LaunchSpec:
        capacity = min(_BLOCK_THREADS, self.gpu.warps_per_sm * WARP_SIZE)
        sizes: dict[str, int] = {}
        for number, buffer in enumerate(self.buffers):
            if buffer.name in sizes:
                rule = "the name of one buffer alone"
                raise rule_error(f"buffers[{number}].name", rule, buffer.name)
            sizes[buffer.name] = buffer.size
        for place, launch in self.launches:
            if (threads := prod(launch.block)) > capacity:
                raise rule_error(f"{place}block", f"at most {capacity} threads in all", threads)
            for number, argument in enumerate(launch.arguments):
                _check_pointers(f"{place}arguments[{number}]", argument, sizes)
        return self


def _check_pointers(place: str, argument: Any, sizes: Mapping[str, int]) -> None:
    """Check the targets of a pointer, or of those in a structure, given bytes of buffers by
    name."""
    if isinstance(argument, PointerArgument):
        if argument.pointer not in sizes:
            rule = f"the name of a buffer ({', '.join(sizes) or 'none'})"
            raise rule_error(f"{place}.pointer", rule, argument.pointer)
        if argument.offset > sizes[argument.pointer]:
            rule = f"at most the {sizes[argument.pointer]} bytes of the buffer"
            raise rule_error(f"{place}.offset", rule, argument.offset)
    elif isinstance(argument, StructArgument):
        for number, member in enumerate(argument.members):
            _check_pointers(f"{place}.members[{number}]", member, sizes)


def read_launch(path: str | Path) -> LaunchSpec:
    """Read a launch file.

    Parameters
    ----------
    path : str or Path
        The file; array files that it names are looked for in its folder.

    Raises
    ------
    TomlError
        If the file breaks a rule of the format; names the file, the key and the rule.
    OSError
        If the file cannot be read.
    """
    return read_toml(Path(path), LaunchSpec)


def find_kernel(functions: Mapping[str, Function], name: str) -> Function | None:
    """The kernel called ``name`` in the PTX, or in the source if only one is; else ``None``."""
    kernels = {n: f for n, f in functions.items() if f.is_kernel and f.defined}
    if name in kernels:
        return kernels[name]
    for matches in (lambda other: written_name(other) == name, lambda other: is_named(other, name)):
        named = [function for other, function in kernels.items() if matches(other)]
        if named:
            return named[0] if len(named) == 1 else None
    return None


def fitting_kernel(launch: LaunchSpec, module: Module, number: int = 0) -> Function:
    """The kernel that launch ``number`` of a file names in ``module``.

    Raises
    ------
    TomlError
        If there is none, or the block or the arguments do not fit it.
    """
    place, table = launch.launches[number]
    kernel = find_kernel(module.functions, table.kernel)
    if kernel is None:
        names = [name for name, f in module.functions.items() if f.is_kernel]
        written = list(map(written_name, names))
        # Kernels with the same name in the source are distinguished by their names in the PTX.
        kernels = written if len(set(written)) == len(written) else names
        rule = f"one of {', '.join(kernels) or '(no kernel)'}"
        raise launch.error(f"{place}kernel", rule, with_nearest(table.kernel, kernels))
    threads = prod(table.block)
    if kernel.max_threads is not None and threads > kernel.max_threads:
        rule = f"at most the {kernel.max_threads} threads that the kernel allows"
        raise launch.error(f"{place}block", rule, threads)
    if len(table.arguments) != len(kernel.parameters):
        rule = f"as many as the {len(kernel.parameters)} parameters of {kernel.name}"
        raise launch.error(f"{place}arguments", rule, len(table.arguments))
    for index, (argument, parameter) in enumerate(
        zip(table.arguments, kernel.parameters, strict=True)
    ):
        if not argument.fits(parameter):
            raise _misfit(launch, f"{place}arguments[{index}]", argument, parameter)
    return kernel


def _misfit(launch: LaunchSpec, place: str, argument: Argument, parameter: Variable) -> TomlError:
    shape = f".{parameter.type}"
    if parameter.size != TYPE_BYTES[parameter.type]:
        shape += f"[{parameter.size}]"
    if isinstance(argument, BufferArgument):
        return launch.error(
            f"{place}.buffer", f"a value for parameter {shape}", str(argument.buffer)
        )
    if isinstance(argument, PointerArgument):
        return launch.error(f"{place}.pointer", f"a value for parameter {shape}", argument.pointer)
    if isinstance(argument, StructArgument):
        size = argument.layout[1]
        return launch.error(f"{place}.members", f"a value for parameter {shape}", f"{size} bytes")
    return launch.error(f"{place}.type", f"of the kind of parameter {shape}", argument.type)
