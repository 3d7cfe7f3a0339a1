"""Launch files: a launch of a kernel, and the GPU that it runs on, as TOML.

The format is described in ``docs/kernels.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator, model_validator

from racetrap.golden_model.events import WARP_SIZE, Geometry
from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.gpu.executor.device import DEFAULT_STALL_LIMIT
from racetrap.sim.gpu.executor.machine.shapes import Shape
from racetrap.sim.gpu.executor.machine.warp_schedulers import WARP_SCHEDULERS
from racetrap.sim.gpu.launch.launch_arguments import Argument, BufferArgument
from racetrap.sim.gpu.ptx.kernel_names import is_named, written_name
from racetrap.sim.gpu.ptx.module import TYPE_BYTES, Function, Module
from racetrap.sim.toml_file import Table, TomlFile, one_of, read_toml, rule_error

__all__ = ["BlockShape", "GridShape", "LaunchSpec", "find_kernel", "fitting_kernel", "read_launch"]

_BLOCK_THREADS = 1024
#: Shared memory that a block may ask for at a launch.
_SHARED_BYTES = 227 * 1024
#: A quarter of an hour or so.
_INSTRUCTIONS = 1_000_000_000
_PAPER = ScordParams()


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


def _name(word: str) -> str:
    if not word:
        raise ValueError("a name")
    return word


class _Gpu(Table):
    """Size of the GPU; by default the paper's."""

    sm_count: Annotated[int, Field(ge=1, le=1024)] = _PAPER.sm_count
    blocks_per_sm: Annotated[int, Field(ge=1, le=64)] = _PAPER.blocks_per_sm
    warps_per_sm: Annotated[int, Field(ge=1, le=64)] = _PAPER.warps_per_sm


class LaunchSpec(TomlFile):
    """One launch of a kernel.

    Parameters
    ----------
    kernel : str
        Name of the kernel.
    grid, block : (int, int, int)
        Blocks of the grid and threads of a block, within the limits of CUDA.
    arguments : list of ScalarArgument or BufferArgument
        Arguments in order.
    dynamic_shared : int
        Bytes of dynamic shared memory.
    gpu : table
        Size of the GPU.
    scheduler : str
        Name of the warp scheduler.
    seed : int
        Seed of the scheduler and of random buffers.
    independent_threads : bool
        Whether lanes that diverge run independently of each other.
    stall_limit : int
        Warp instructions without progress after which the launch is given up.
    instruction_limit : int
        Warp instructions after which the launch is given up whatever it does.
    """

    kernel: Annotated[str, AfterValidator(_name)]
    grid: GridShape
    block: BlockShape
    arguments: list[Argument]
    dynamic_shared: Annotated[int, Field(ge=0, le=_SHARED_BYTES)] = 0
    gpu: _Gpu = _Gpu()
    scheduler: Annotated[str, one_of(WARP_SCHEDULERS)] = "round-robin"
    seed: Annotated[int, Field(ge=0, lt=2**64)] = 1
    independent_threads: bool = False
    stall_limit: Annotated[int, Field(ge=1, lt=2**63)] = DEFAULT_STALL_LIMIT
    instruction_limit: Annotated[int, Field(ge=1, lt=2**63)] = _INSTRUCTIONS

    @property
    def geometry(self) -> Geometry:
        """Size of the GPU."""
        return Geometry(**self.gpu.model_dump())

    @model_validator(mode="after")
    def _check_block(self) -> LaunchSpec:
        threads = prod(self.block)
        capacity = min(_BLOCK_THREADS, self.gpu.warps_per_sm * WARP_SIZE)
        if threads > capacity:
            raise rule_error("block", f"at most {capacity} threads in all", threads)
        return self


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


def fitting_kernel(launch: LaunchSpec, module: Module) -> Function:
    """The kernel that ``launch`` names in ``module``.

    Raises
    ------
    TomlError
        If there is none, or the block or the arguments do not fit it.
    """
    kernel = find_kernel(module.functions, launch.kernel)
    if kernel is None:
        names = [name for name, f in module.functions.items() if f.is_kernel]
        written = list(map(written_name, names))
        # Of kernels with one name in the source, those in the PTX tell them apart.
        kernels = ", ".join(written if len(set(written)) == len(written) else names)
        raise launch.error("kernel", f"one of {kernels or '(no kernel)'}", launch.kernel)
    threads = prod(launch.block)
    if kernel.max_threads is not None and threads > kernel.max_threads:
        rule = f"at most the {kernel.max_threads} threads that the kernel allows"
        raise launch.error("block", rule, threads)
    if len(launch.arguments) != len(kernel.parameters):
        rule = f"as many as the {len(kernel.parameters)} parameters of {kernel.name}"
        raise launch.error("arguments", rule, len(launch.arguments))
    for number, (argument, parameter) in enumerate(
        zip(launch.arguments, kernel.parameters, strict=True)
    ):
        if not argument.fits(parameter):
            shape = f".{parameter.type}"
            if parameter.size != TYPE_BYTES[parameter.type]:
                shape += f"[{parameter.size}]"
            if isinstance(argument, BufferArgument):
                rule, key, value = "a value for parameter", "buffer", str(argument.buffer)
            else:
                rule, key, value = "of the kind of parameter", "type", argument.type
            raise launch.error(f"arguments[{number}].{key}", f"{rule} {shape}", value)
    return kernel
