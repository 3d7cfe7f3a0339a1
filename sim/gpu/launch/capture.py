"""From a kernel and a launch file to a trace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.executor.device import Device, LaunchStats
from racetrap.sim.gpu.launch.launch_arguments import ELEMENT_TYPES, BufferArgument
from racetrap.sim.gpu.launch.launch_file import Launch, check_launch
from racetrap.sim.gpu.launch.nvrtc import compile_cuda
from racetrap.sim.gpu.ptx.module import Module
from racetrap.sim.gpu.ptx.parser import parse_ptx

__all__ = ["KERNEL_SUFFIXES", "Capture", "capture", "is_kernel_file", "read_kernel_file"]

#: Ends of the names of kernel files: CUDA sources and PTX.
KERNEL_SUFFIXES = (".cu", ".ptx")


@dataclass(frozen=True)
class Capture:
    """What a launch left.

    Parameters
    ----------
    trace : Trace
        All events of the run.
    stats : LaunchStats
        Instructions and blocks.
    buffers : dict of int to ndarray
        Contents of each buffer argument after the run, by number of the argument.
    """

    trace: Trace
    stats: LaunchStats
    buffers: dict[int, np.ndarray]


def is_kernel_file(path: str | Path) -> bool:
    """Whether a file's name is that of a CUDA source or of PTX."""
    return Path(path).suffix in KERNEL_SUFFIXES


def read_kernel_file(path: str | Path) -> Module:
    """Module of a CUDA source, which is compiled, or of a PTX file.

    Parameters
    ----------
    path : str or Path
        File ending in ``.cu`` (needs the extra ``cuda``; headers are looked for in its
        folder) or ``.ptx``.

    Raises
    ------
    ValueError
        If the name ends otherwise, the source does not compile, or the PTX breaks a rule.
    OSError
        If the file cannot be read.
    """
    path = Path(path)
    if not is_kernel_file(path):
        raise ValueError(f"Kernel file must end in {' or '.join(KERNEL_SUFFIXES)}, not {path.name}")
    text = path.read_bytes().decode()
    if path.suffix == ".cu":
        text = compile_cuda(text, path.name, [f"--include-path={path.parent}"])
    return parse_ptx(text, path.name)


def capture(module: Module, launch: Launch) -> Capture:
    """Run a launch from a new device and keep what happened.

    Parameters
    ----------
    module : Module
        Module of the kernel.
    launch : Launch
        What to launch, and how.

    Raises
    ------
    LaunchError
        If the launch does not fit the kernel.
    PtxError
        If the kernel has an instruction that is not known.
    ExecutionError
        If the run goes wrong: a bad access, or a launch that cannot end.
    """
    kernel = check_launch(launch, module)
    device = Device(
        launch.geometry,
        scheduler=launch.scheduler,
        seed=launch.seed,
        independent_threads=launch.independent_threads,
        stall_limit=launch.stall_limit,
    )
    device.load(module)
    values: list[int | float] = []
    addresses: dict[int, int] = {}
    for number, argument in enumerate(launch.arguments):
        if isinstance(argument, BufferArgument):
            rng = np.random.default_rng((launch.seed, number))  # no two buffers alike
            addresses[number] = device.allocate(argument.make(rng))
            values.append(addresses[number])
        else:
            values.append(argument.bits())
    stats = device.launch(
        module, kernel.name, launch.grid, launch.block, values, launch.dynamic_shared
    )
    buffers = {
        number: device.read(address, ELEMENT_TYPES[argument.type], argument.count)
        for number, address in addresses.items()
        if isinstance(argument := launch.arguments[number], BufferArgument)
    }
    trace = device.trace(f"{module.name} {kernel.name}")
    return Capture(trace, stats, buffers)
