"""Launch files: what is launched, how, and on which GPU, as TOML.

The format is described in ``docs/kernels.md``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from racetrap.golden_model.events import WARP_SIZE, Geometry
from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.gpu.executor.device import DEFAULT_STALL_LIMIT
from racetrap.sim.gpu.executor.machine.warp_schedulers import WARP_SCHEDULERS
from racetrap.sim.gpu.launch.launch_argument_reader import read_argument
from racetrap.sim.gpu.launch.launch_arguments import BufferArgument, ScalarArgument
from racetrap.sim.gpu.launch.launch_table import LaunchError, Table, is_integer
from racetrap.sim.gpu.ptx.module import TYPE_BYTES, Function, Module

__all__ = ["Launch", "LaunchError", "check_launch", "find_kernel", "read_launch"]

Argument = ScalarArgument | BufferArgument

#: Limits of CUDA on the dimensions of a grid and of a block.
_GRID_LIMITS = (2**31 - 1, 65535, 65535)
_BLOCK_LIMITS = (1024, 1024, 64)
_BLOCK_THREADS = 1024
#: Shared memory that a block may ask for at a launch.
_SHARED_BYTES = 227 * 1024


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One launch of a kernel.

    Parameters
    ----------
    path : Path
        The launch file.
    kernel : str
        Name of the kernel.
    grid, block : (int, int, int)
        Blocks of the grid and threads of a block.
    arguments : tuple of ScalarArgument or BufferArgument
        Arguments in order.
    dynamic_shared : int
        Bytes of dynamic shared memory.
    geometry : Geometry
        Size of the GPU.
    scheduler : str
        Name of the warp scheduler.
    seed : int
        Seed of the scheduler and of random buffers.
    independent_threads : bool
        Whether lanes that part run independently of each other.
    stall_limit : int
        Warp instructions without progress after which the launch is given up.
    """

    path: Path
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[Argument, ...]
    dynamic_shared: int = 0
    geometry: Geometry
    scheduler: str = "round-robin"
    seed: int = 1
    independent_threads: bool = False
    stall_limit: int = DEFAULT_STALL_LIMIT


def _dimensions(limits: tuple[int, int, int]) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        values = value if isinstance(value, list) else [value]
        return 1 <= len(values) <= 3 and all(
            is_integer(v, 1, limit) for v, limit in zip(values, limits, strict=False)
        )

    return fits


def _three(value: Any) -> tuple[int, int, int]:
    values = value if isinstance(value, list) else [value]
    x, y, z = [*values, 1, 1][:3]
    return x, y, z


def _dimensions_rule(limits: tuple[int, int, int]) -> str:
    return f"a number or up to three, from 1 to {', '.join(map(str, limits))}"


def _read_geometry(table: Table) -> Geometry:
    usual = ScordParams()
    limits = {"sm_count": 1024, "blocks_per_sm": 64, "warps_per_sm": 64}
    table.check_keys(limits)
    sizes = {
        name: table.integer(name, 1, limit, getattr(usual, name)) for name, limit in limits.items()
    }
    return Geometry(**sizes)


def _read_arguments(top: Table, folder: Path) -> tuple[Argument, ...]:
    entries = top.take(
        "arguments",
        lambda v: isinstance(v, list) and all(isinstance(e, dict) for e in v),
        "a list of tables [[arguments]]",
    )
    return tuple(
        read_argument(Table(top.path, entry, f"arguments[{number}]"), folder)
        for number, entry in enumerate(entries)
    )


def _read_top(top: Table, folder: Path) -> Launch:
    keys = ("kernel", "grid", "block", "arguments", "dynamic_shared", "gpu", "scheduler")
    top.check_keys((*keys, "seed", "independent_threads", "stall_limit"))
    geometry_table = top.take("gpu", lambda v: isinstance(v, dict), "a table [gpu]", {})
    launch = Launch(
        path=top.path,
        kernel=top.take("kernel", lambda v: isinstance(v, str) and v != "", "a name"),
        grid=_three(top.take("grid", _dimensions(_GRID_LIMITS), _dimensions_rule(_GRID_LIMITS))),
        block=_three(
            top.take("block", _dimensions(_BLOCK_LIMITS), _dimensions_rule(_BLOCK_LIMITS))
        ),
        arguments=_read_arguments(top, folder),
        dynamic_shared=top.integer("dynamic_shared", 0, _SHARED_BYTES, 0),
        geometry=_read_geometry(Table(top.path, geometry_table, "gpu")),
        scheduler=top.take(
            "scheduler",
            lambda v: isinstance(v, str) and v in WARP_SCHEDULERS,
            f"one of {', '.join(WARP_SCHEDULERS)}",
            "round-robin",
        ),
        seed=top.integer("seed", 0, 2**64 - 1, 1),
        independent_threads=top.take(
            "independent_threads", lambda v: isinstance(v, bool), "true or false", False
        ),
        stall_limit=top.integer("stall_limit", 1, 2**63 - 1, DEFAULT_STALL_LIMIT),
    )
    threads = prod(launch.block)
    capacity = min(_BLOCK_THREADS, launch.geometry.warps_per_sm * WARP_SIZE)
    if threads > capacity:
        raise top.error("block", f"at most {capacity} threads in all", threads)
    return launch


def read_launch(path: str | Path) -> Launch:
    """Read a launch file.

    Parameters
    ----------
    path : str or Path
        The file; array files that it names are looked for in its folder.

    Raises
    ------
    LaunchError
        If the file breaks a rule of the format; names the file, the key and the rule.
    OSError
        If the file cannot be read.
    """
    path = Path(path)
    try:
        data = tomllib.loads(path.read_bytes().decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LaunchError(f"{path}: Launch file must be TOML: {error}") from None
    return _read_top(Table(path, data), path.parent)


def find_kernel(functions: Mapping[str, Function], name: str) -> Function | None:
    """The kernel called ``name`` in the PTX, or in C++ if only one is; else ``None``."""
    kernels = {n: f for n, f in functions.items() if f.is_kernel and f.defined}
    if name in kernels:
        return kernels[name]
    mangled = [f for n, f in kernels.items() if n.startswith(f"_Z{len(name)}{name}")]
    return mangled[0] if len(mangled) == 1 else None


def check_launch(launch: Launch, module: Module) -> Function:
    """The kernel that ``launch`` names in ``module``.

    Raises
    ------
    LaunchError
        If there is none, or the block or the arguments do not fit it.
    """
    top = Table(launch.path, {})
    kernel = find_kernel(module.functions, launch.kernel)
    if kernel is None:
        kernels = ", ".join(name for name, f in module.functions.items() if f.is_kernel)
        raise top.error("kernel", f"one of {kernels or '(no kernel)'}", launch.kernel)
    if kernel.max_threads is not None and prod(launch.block) > kernel.max_threads:
        rule = f"at most the {kernel.max_threads} threads that the kernel allows"
        raise top.error("block", rule, prod(launch.block))
    if len(launch.arguments) != len(kernel.parameters):
        rule = f"as many as the {len(kernel.parameters)} parameters of {kernel.name}"
        raise top.error("arguments", rule, len(launch.arguments))
    for number, (argument, parameter) in enumerate(
        zip(launch.arguments, kernel.parameters, strict=True)
    ):
        if not argument.fits(parameter):
            entry = Table(launch.path, {}, f"arguments[{number}]")
            shape = f".{parameter.type}"
            if parameter.size != TYPE_BYTES[parameter.type]:
                shape += f"[{parameter.size}]"
            if isinstance(argument, BufferArgument):
                raise entry.error("buffer", f"a value for parameter {shape}", argument.contents)
            raise entry.error("type", f"of the kind of parameter {shape}", argument.type)
    return kernel
